#include "libprofile/interpose/past_wrappers.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "libprofile/interpose/loaded_module.hpp"
#include "libprofile/interpose/mpi_names.hpp"
#include "libprofile/interpose/next.hpp"

namespace halcyon {
namespace {

bool is_of_mpi_itself(const char* path) { return is_mpi_library(base_name(path)) || is_language_layer(path); }

struct BoundName {
  std::string module;
  std::string function;
};

}  // namespace

std::string module_past_wrappers() {
  struct Modules {
    std::vector<LoadedModule> of_mpi;
    std::vector<LoadedModule> without_wrappers;
  } modules;
  const auto note = [](dl_phdr_info* info, size_t, void* argument) {
    auto& noted = *static_cast<Modules*>(argument);
    const bool is_of_mpi = is_of_mpi_itself(info->dlpi_name);
    // A program at a fixed address has copies of MPI's variables, and places of its own for functions of MPI whose
    // address it takes: these are no wrappers. It is the first.
    if (is_of_mpi || noted.without_wrappers.empty()) noted.without_wrappers.emplace_back(*info);
    if (is_of_mpi) noted.of_mpi.emplace_back(*info);
    return 0;
  };
  dl_iterate_phdr(note, &modules);
  if (modules.of_mpi.empty()) return "";

  // Most of these are functions that have no wrapper. Whether they have one is asked afterwards: dl_iterate_phdr holds
  // a lock of the loader.
  struct Search {
    const std::vector<LoadedModule>& of_mpi;
    std::vector<BoundName> found;
  } search{modules.of_mpi, {}};
  const auto look = [](dl_phdr_info* info, size_t, void* argument) {
    auto& sought = *static_cast<Search*>(argument);
    const LoadedModule module(*info);
    if (is_of_mpi_itself(info->dlpi_name) || !module.is_linked_with(is_of_mpi_itself)) return 0;
    module.for_each_reference([&](std::string_view name, std::uintptr_t address) {
      if (!name.starts_with("MPI_") && !name.starts_with("mpi_")) return;
      const bool is_in_mpi = std::any_of(sought.of_mpi.begin(), sought.of_mpi.end(),
                                         [address](const LoadedModule& mpi) { return mpi.contains(address); });
      if (is_in_mpi) sought.found.push_back({base_name(info->dlpi_name), std::string(name)});
    });
    return 0;
  };
  dl_iterate_phdr(look, &search);
  for (const auto& [module, function] : search.found) {
    const auto first = reinterpret_cast<std::uintptr_t>(find_symbol(RTLD_DEFAULT, function.c_str()));
    const bool has_wrapper =
        first != 0 && std::none_of(modules.without_wrappers.begin(), modules.without_wrappers.end(),
                                   [first](const LoadedModule& without) { return without.contains(first); });
    if (has_wrapper) return module.empty() ? "the program" : module;
  }
  return "";
}

}  // namespace halcyon
