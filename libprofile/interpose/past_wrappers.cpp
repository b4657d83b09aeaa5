#include "libprofile/interpose/past_wrappers.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "libprofile/interpose/mpi_names.hpp"
#include "libprofile/interpose/next.hpp"

namespace halcyon {
namespace {

// What dl_iterate_phdr shows of a module that is linked with others.
class LoadedModule {
 public:
  explicit LoadedModule(const dl_phdr_info& info) : base_(info.dlpi_addr) {
    for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info.dlpi_phdr[i];
      if (segment.p_type == PT_LOAD) end_ = std::max<std::uintptr_t>(end_, base_ + segment.p_vaddr + segment.p_memsz);
      if (segment.p_type == PT_DYNAMIC) dynamic_ = at<const ElfW(Dyn)>(segment.p_vaddr);
    }
    for (const ElfW(Dyn)* entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) texts_ = at<const char>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_SYMTAB) symbols_ = at<const ElfW(Sym)>(entry->d_un.d_ptr);
    }
  }

  bool contains(std::uintptr_t address) const { return address >= base_ && address < end_; }

  bool is_linked_with(bool (*is_wanted)(const char* name)) const {
    for (const ElfW(Dyn)* entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_NEEDED && texts_ != nullptr && is_wanted(texts_ + entry->d_un.d_val)) return true;
    }
    return false;
  }

  // Calls `visit(name, address)` for each symbol that the loader has found for the module, or will find.
  template <class Visit>
  void for_each_reference(Visit visit) const {
    const ElfW(Rela) * tables[2] = {};  // of data, and of calls
    std::size_t bytes[2] = {};
    for (const ElfW(Dyn)* entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_RELA) tables[0] = at<const ElfW(Rela)>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_RELASZ) bytes[0] = entry->d_un.d_val;
      if (entry->d_tag == DT_JMPREL) tables[1] = at<const ElfW(Rela)>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_PLTRELSZ) bytes[1] = entry->d_un.d_val;
    }
    if (symbols_ == nullptr || texts_ == nullptr) return;
    for (std::size_t table = 0; table < 2; ++table) {
      const ElfW(Rela)* const first = tables[table];
      const std::size_t count = first != nullptr ? bytes[table] / sizeof *first : 0;
      for (std::size_t i = 0; i < count; ++i) {
        const auto symbol = ELF64_R_SYM(first[i].r_info);
        if (symbol == 0) continue;
        visit(texts_ + symbols_[symbol].st_name, *at<const std::uintptr_t>(first[i].r_offset));
      }
    }
  }

 private:
  // The loader has made pointers of some addresses of the file.
  template <class T>
  T* at(std::uintptr_t address) const {
    return reinterpret_cast<T*>(address < base_ ? base_ + address : address);
  }

  std::uintptr_t base_;
  std::uintptr_t end_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
  const char* texts_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
};

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
    const auto first = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, function.c_str()));
    const bool has_wrapper =
        first != 0 && std::none_of(modules.without_wrappers.begin(), modules.without_wrappers.end(),
                                   [first](const LoadedModule& without) { return without.contains(first); });
    if (has_wrapper) return module.empty() ? "the program" : module;
  }
  return "";
}

}  // namespace halcyon
