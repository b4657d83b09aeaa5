#include "libprofile/interpose/loaded_mpi.hpp"

#include <dlfcn.h>
#include <link.h>

#include "libprofile/interpose/next.hpp"

namespace halcyon {

std::vector<LoadedMpi> loaded_mpi_libraries() {
  std::vector<LoadedMpi> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        const char* const path = info->dlpi_name;
        if (path == nullptr || !is_mpi_library(base_name(path))) return 0;
        void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
        if (handle == nullptr || dlsym(handle, "PMPI_Init") == nullptr) return 0;
        const auto exports = [handle](const char* symbol) { return dlsym(handle, symbol) != nullptr; };
        static_cast<std::vector<LoadedMpi>*>(argument)->push_back({path, family_of_mpi(base_name(path), exports)});
        return 0;
      },
      &found);
  return found;
}

}  // namespace halcyon
