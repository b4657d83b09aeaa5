#include "libprofile/record/module_of.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <climits>
#include <cstring>

#include "libprofile/interpose/next.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/direct_calls.hpp"

namespace halcyon {
namespace {

// realpath() takes more of the stack than a fiber may have.
std::string resolved_path(const char* path) {
  const Descriptor file(direct::open(path, O_PATH));
  struct stat state {};
  if (!file || direct::status(file.number(), state) != 0 || state.st_nlink == 0) return "";
  const std::string link = "/proc/self/fd/" + std::to_string(file.number());
  std::string resolved(PATH_MAX, '\0');
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), resolved.data(), resolved.size());
  if (length <= 0) return path;  // without /proc
  resolved.resize(static_cast<std::size_t>(length));
  return resolved;
}

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

std::size_t up_to_word(std::size_t size) { return (size + 3) / 4 * 4; }

// The build-id in these notes; empty if there is none.
std::string build_id_in(const unsigned char* notes, std::size_t size) {
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t content = name + up_to_word(note.n_namesz);
    if (content > size || note.n_descsz > size - content) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
      return hexadecimal(notes + content, note.n_descsz);
    }
    at = content + up_to_word(note.n_descsz);
  }
  return {};
}

struct Search {
  std::uintptr_t address;
  std::string build_id;
};

// Finds the build-id of the module that holds the address, from the notes that are loaded with it.
int look_for_build_id(dl_phdr_info* info, std::size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const auto is_loaded = [info](std::uintptr_t from, std::size_t size) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      if (segment.p_type == PT_LOAD && from >= begin && from - begin < segment.p_filesz &&
          size <= segment.p_filesz - (from - begin)) {
        return true;
      }
    }
    return false;
  };
  if (!is_loaded(search.address, 1)) return 0;
  for (int i = 0; i < info->dlpi_phnum && search.build_id.empty(); ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || !is_loaded(begin, segment.p_filesz)) continue;
    search.build_id = build_id_in(reinterpret_cast<const unsigned char*>(begin), segment.p_filesz);
  }
  return 1;
}

}  // namespace

std::optional<PlaceInModule> module_of(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || info.dli_fname == nullptr) {
    return std::nullopt;
  }
  // For the program itself, dladdr gives the name that it was called by.
  const bool is_program = map != nullptr && map->l_name != nullptr && map->l_name[0] == '\0';
  Search search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(look_for_build_id, &search);
  return PlaceInModule{{base_name(info.dli_fname), resolved_path(is_program ? "/proc/self/exe" : info.dli_fname),
                        std::move(search.build_id)},
                       search.address - reinterpret_cast<std::uintptr_t>(info.dli_fbase)};
}

}  // namespace halcyon
