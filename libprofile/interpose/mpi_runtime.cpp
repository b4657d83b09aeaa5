#include "libprofile/interpose/mpi_runtime.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "libprofile/interpose/loaded_mpi.hpp"
#include "libprofile/interpose/mpi_names.hpp"
#include "libprofile/interpose/next.hpp"

namespace halcyon {

MpiRuntime mpi;

namespace {

#if defined(OPEN_MPI)
constexpr MpiInterface own_interface = MpiInterface::open_mpi;
constexpr char own_mpi[] = "Open MPI";
#elif defined(MPICH_VERSION)
constexpr MpiInterface own_interface = MpiInterface::mpich;
constexpr char own_mpi[] = "MPICH";
#elif defined(HALCYON_STANDARD_ABI)
constexpr MpiInterface own_interface = MpiInterface::standard;
constexpr char own_mpi[] = "the standard ABI";
#else
#error "Halcyon knows the handles of Open MPI, of MPICH and of the standard ABI; another MPI needs its own here"
#endif

std::string file_for(MpiFamily family, const std::string& tool) {
  return tool + std::string(info_of(family).suffix) + ".so";
}

// The path of the library that this address is in.
std::string file_with(const void* address) {
  Dl_info place{};
  const bool is_known = address != nullptr && dladdr(address, &place) != 0 && place.dli_fname != nullptr;
  return is_known ? place.dli_fname : "";
}

std::string own_file() { return base_name(file_with(&mpi).c_str()); }

// Two libraries with different handles in one process: a call may go to either, and nothing in it says to which.
std::string why_not_of_these(const std::vector<LoadedMpi>& loaded, const std::string& tool) {
  if (loaded.empty()) return "";
  const LoadedMpi& first = loaded.front();
  const auto other = std::find_if(loaded.begin(), loaded.end(), [&](const LoadedMpi& one) {
    return interface_of(one.family) != interface_of(first.family);
  });
  if (other != loaded.end()) {
    return "this process has loaded two MPI libraries, " + first.path + " and " + other->path;
  }
  if (!is_of_own_interface(first.family)) {
    return own_file() + " is for " + own_mpi + ", and the program uses " + std::string(info_of(first.family).words) +
           " (" + first.path + "); preload " + file_for(first.family, tool);
  }
  return "";
}

// Where MPI's functions come from, if no library has the usual name of one.
std::string path_of_mpi() {
  const std::string path = file_with(find_in_mpi("PMPI_Comm_rank"));  // which no tool of ours wraps
  return path.empty() ? "the MPI library" : path;
}

std::string unknown_handles(const std::string& library, const std::string& known) {
  return library + ", whose handles Halcyon does not know (it knows " + known + ")";
}

}  // namespace

std::string MpiRuntime::load(const std::string& tool) {
  const std::vector<LoadedMpi> loaded = loaded_mpi_libraries();
  if (std::string why = why_not_of_these(loaded, tool); !why.empty()) return why;
  const std::string library = loaded.empty() ? path_of_mpi() : loaded.front().path;
  if (std::string why = load_functions(library); !why.empty()) return why;
  return load_handles(library);
}

bool is_of_own_interface(MpiFamily family) noexcept { return interface_of(family) == own_interface; }

std::string other_mpi_than_own(const std::string& tool) { return why_not_of_these(loaded_mpi_libraries(), tool); }

std::string newer_mpi_than_known(const std::string& tool) {
  const std::vector<LoadedMpi> loaded = loaded_mpi_libraries();
  if (loaded.empty()) return "";
  const LoadedMpi& first = loaded.front();
  const std::string own = own_file();
  const bool is_newer = (first.family == MpiFamily::open_mpi_5 && own == file_for(MpiFamily::open_mpi, tool)) ||
                        (first.family == MpiFamily::mpich_5 && own == file_for(MpiFamily::mpich, tool));
  if (!is_newer) return "";
  return own + " does not know the newest functions of " + first.path + "; preload " + file_for(first.family, tool);
}

std::string MpiRuntime::load_functions(const std::string& library) {
  const char* absent = nullptr;
#define HALCYON_MPI_LOAD(name)                                         \
  name = reinterpret_cast<decltype(name)>(find_in_mpi("PMPI_" #name)); \
  if (name == nullptr) absent = "PMPI_" #name;
  HALCYON_MPI_FUNCTIONS(HALCYON_MPI_LOAD)
  HALCYON_MPI_FUNCTIONS_OF_INTERFACE(HALCYON_MPI_LOAD)
#undef HALCYON_MPI_LOAD
  return absent != nullptr ? library + " has no " + absent : "";
}

#if defined(OPEN_MPI)
std::string MpiRuntime::load_handles(const std::string& library) {
  const char* absent = nullptr;
  const auto handle = [&absent](const char* name) {
    void* data = find_mpi_data(name);
    if (data == nullptr) absent = name;
    return data;
  };
  comm_world = static_cast<MPI_Comm>(handle(symbol_of_open_mpi));
  comm_null = static_cast<MPI_Comm>(handle("ompi_mpi_comm_null"));
  byte = static_cast<MPI_Datatype>(handle("ompi_mpi_byte"));
  uint64 = static_cast<MPI_Datatype>(handle("ompi_mpi_uint64_t"));
  min = static_cast<MPI_Op>(handle("ompi_mpi_op_min"));
  errors_return = static_cast<MPI_Errhandler>(handle("ompi_mpi_errors_return"));
  info_null = static_cast<MPI_Info>(handle("ompi_mpi_info_null"));
  shared_requests.fill(static_cast<MPI_Request>(handle("ompi_request_empty")));
  if (absent != nullptr) return library + " is no Open MPI that Halcyon knows: it has no " + absent;
  constexpr int oldest = 3, newest = 5;        // the same handles and statuses throughout
  constexpr std::size_t longest_known = 8192;  // MPICH's; a library that passes for Open MPI may be any
  char version[longest_known] = {};
  int length = 0;
  Get_library_version(version, &length);
  const char* number = std::strstr(version, "Open MPI v");
  const long major = number != nullptr ? std::strtol(number + std::strlen("Open MPI v"), nullptr, 10) : oldest;
  if (major < oldest || major > newest) {
    return unknown_handles(library + " is Open MPI " + std::to_string(major),
                           std::to_string(oldest) + " to " + std::to_string(newest));
  }
  return "";
}
#else
namespace {

void take_constants() {
  mpi.comm_world = MPI_COMM_WORLD;
  mpi.comm_null = MPI_COMM_NULL;
  mpi.byte = MPI_BYTE;
  mpi.uint64 = MPI_UINT64_T;
  mpi.min = MPI_MIN;
  mpi.errors_return = MPI_ERRORS_RETURN;
}

}  // namespace

#ifdef MPICH_VERSION
namespace {

bool says_that_it_is_mpich() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  mpi.Get_library_version(version, &length);
  constexpr std::array names{"MPICH", "MVAPICH", "Intel(R) MPI"};
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return std::strstr(version, name) != nullptr; });
}

}  // namespace

std::string MpiRuntime::load_handles(const std::string& library) {
  constexpr long known = known_number(own_interface);
  if (find_mpi_data(symbol_of_open_mpi) != nullptr) return library + " is Open MPI, and this build is for MPICH";
  const long number = number_of_soname(library);
  if (number >= 0 && number != known) {
    return unknown_handles(library + " has the binary interface " + std::to_string(number), std::to_string(known));
  }
  if (number < 0 && !says_that_it_is_mpich()) return unknown_handles(library, "MPICH and what is made of it");
  take_constants();
  return "";
}
#else
std::string MpiRuntime::load_handles(const std::string& library) {
  constexpr int known_version = 1;
  int major = 0;
  int minor = 0;
  if (Abi_get_version(&major, &minor) != MPI_SUCCESS || major != known_version) {
    return unknown_handles(library + " has version " + std::to_string(major) + " of the standard ABI",
                           std::to_string(known_version));
  }
  take_constants();
  int is_initialized = 0;  // a program of sessions has no MPI_COMM_SELF
  Initialized(&is_initialized);
  if (is_initialized != 0) learn_shared_requests(MPI_COMM_SELF, true);
  return "";
}
#endif
#endif

#ifdef HALCYON_STANDARD_ABI
void MpiRuntime::learn_shared_requests(MPI_Comm comm, bool alone) {
  // The standard does not say whether requests that are complete at once share a handle. So two are asked for.
  const auto shared = [this](const auto& create) {
    MPI_Request first{MPI_REQUEST_NULL};
    MPI_Request second{MPI_REQUEST_NULL};
    create(&first);
    create(&second);
    const MPI_Request handle = first == second ? first : MPI_REQUEST_NULL;
    Wait(&first, MPI_STATUS_IGNORE);
    Wait(&second, MPI_STATUS_IGNORE);
    return handle;
  };
  shared_requests[0] =
      shared([&](MPI_Request* request) { Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, request); });
  if (alone) shared_requests[1] = shared([&](MPI_Request* request) { Ibarrier(comm, request); });
}
#else
void MpiRuntime::learn_shared_requests(MPI_Comm, bool) {}
#endif

}  // namespace halcyon
