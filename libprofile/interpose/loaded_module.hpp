// A program or library in this process, as the loader sees it.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace halcyon {

/// What dl_iterate_phdr shows of a module that is linked with others.
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

  std::uintptr_t end() const { return end_; }
  bool contains(std::uintptr_t address) const { return address >= base_ && address < end_; }

  bool is_linked_with(bool (*is_wanted)(const char* name)) const {
    for (const ElfW(Dyn)* entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_NEEDED && texts_ != nullptr && is_wanted(texts_ + entry->d_un.d_val)) return true;
    }
    return false;
  }

  /// Calls `visit(name, address)` for each symbol that the loader has found for the module, or will find.
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

}  // namespace halcyon
