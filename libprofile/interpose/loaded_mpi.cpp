#include "libprofile/interpose/loaded_mpi.hpp"

#include <dlfcn.h>
#include <link.h>

#include "libprofile/interpose/mpi_names.hpp"
#include "libprofile/interpose/next.hpp"

namespace halcyon {
namespace {

MpiInterface interface_of(const char* path, void* handle) {
  if (has_standard_abi(base_name(path))) return MpiInterface::standard;
  return dlsym(handle, symbol_of_open_mpi) != nullptr ? MpiInterface::open_mpi : MpiInterface::mpich;
}

}  // namespace

std::vector<LoadedMpi> loaded_mpi_libraries() {
  std::vector<LoadedMpi> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        if (info->dlpi_name == nullptr || !is_mpi_library(base_name(info->dlpi_name))) return 0;
        void* handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (handle == nullptr || dlsym(handle, "PMPI_Init") == nullptr) return 0;
        static_cast<std::vector<LoadedMpi>*>(argument)->push_back(
            {info->dlpi_name, handle, interface_of(info->dlpi_name, handle)});
        return 0;
      },
      &found);
  return found;
}

const char* name_of(MpiInterface interface) noexcept {
  switch (interface) {
    case MpiInterface::open_mpi: return "Open MPI";
    case MpiInterface::mpich: return "MPICH";
    case MpiInterface::standard: return "the standard ABI of MPI";
  }
  return "";
}

}  // namespace halcyon
