#include "libprofile/interpose/next.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace halcyon {
namespace {

constexpr int error_of_an_absent_function = 16;  // MPI_ERR_OTHER of Open MPI; any non-zero code is a failure

int absent() { return error_of_an_absent_function; }

bool is_mpi_library(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  return std::strncmp(name, "libmpi.so", 9) == 0;
}

// The MPI library that is already in the process; it is never loaded from here.
void* mpi_library() {
  static void* handle = nullptr;
  if (handle == nullptr) {
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* found) {
          if (info->dlpi_name == nullptr || !is_mpi_library(info->dlpi_name)) return 0;
          *static_cast<void**>(found) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
          return 1;
        },
        static_cast<void*>(&handle));
  }
  return handle;
}

}  // namespace

void* find_in_mpi(const char* name) noexcept {
  void* library = mpi_library();
  return library != nullptr ? dlsym(library, name) : dlsym(RTLD_NEXT, name);
}

void* find_mpi_data(const char* name) noexcept {
  void* data = dlsym(RTLD_DEFAULT, name);
  return data != nullptr ? data : find_in_mpi(name);
}

void* find_next(const char* name) noexcept {
  void* next = dlsym(RTLD_NEXT, name);
  if (next == nullptr) next = find_in_mpi(name);
  return next != nullptr ? next : reinterpret_cast<void*>(&absent);
}

}  // namespace halcyon
