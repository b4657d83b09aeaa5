#include "libprofile/interpose/loaded_mpi.hpp"

#include <dlfcn.h>
#include <link.h>

#include "libprofile/interpose/next.hpp"

namespace halcyon {

MpiFamily family_of_loaded(void* handle, const char* path) noexcept {
  return family_of_mpi(base_name(path),
                       [handle](const char* symbol) { return find_symbol(handle, symbol) != nullptr; });
}

std::vector<LoadedMpi> loaded_mpi_libraries() {
  std::vector<std::string> paths;
  // dl_iterate_phdr holds one of the loader's locks, and dlopen takes another one before it.
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        const char* const path = info->dlpi_name;
        if (path != nullptr && is_mpi_library(base_name(path))) {
          static_cast<std::vector<std::string>*>(argument)->emplace_back(path);
        }
        return 0;
      },
      &paths);
  std::vector<LoadedMpi> found;
  for (const std::string& path : paths) {
    void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr || find_symbol(handle, "PMPI_Init") == nullptr) continue;
    found.push_back({path, family_of_loaded(handle, path.c_str())});
  }
  return found;
}

}  // namespace halcyon
