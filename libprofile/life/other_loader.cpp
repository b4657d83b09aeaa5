#include "libprofile/life/other_loader.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

#include "libprofile/interpose/next.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/loader_name.hpp"

namespace halcyon {
namespace {

#if defined(__x86_64__)
constexpr auto own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr auto own_machine = EM_AARCH64;
#endif
constexpr std::string_view variable = "LD_PRELOAD=";

using Text = std::array<char, PATH_MAX>;

// Text at a place of the file, up to its end or that of the room.
std::string_view text_at(int file, std::uint64_t offset, std::size_t bytes, Text& text) {
  const ssize_t have = direct::read_at(file, text.data(), std::min(bytes, text.size()), offset);
  return {text.data(), have > 0 ? static_cast<std::size_t>(have) : 0};
}

// Its parts are divided by blanks or colons.
template <class Visit>
void for_each_library(std::string_view libraries, Visit visit) {
  while (!libraries.empty()) {
    const std::size_t length = std::min(libraries.find_first_of(" :"), libraries.size());
    if (length > 0) visit(libraries.substr(0, length));
    libraries.remove_prefix(std::min(length + 1, libraries.size()));
  }
}

bool is_ours(std::string_view library) {
  const std::size_t slash = library.rfind('/');
  return is_library_of_ours(library.substr(slash == std::string_view::npos ? 0 : slash + 1));
}

bool is_for_other_loader(int file, bool may_be_script) {
  Text text;
  ElfW(Ehdr) head;
  const std::string_view begin = text_at(file, 0, text.size(), text);
  if (may_be_script && begin.starts_with("#!")) {
    const std::size_t first = begin.find_first_not_of(" \t", 2);
    const std::size_t end = std::min(begin.find_first_of(" \t\n", first), begin.size());
    if (first == std::string_view::npos || end == text.size()) return false;
    text[end] = '\0';
    const int interpreter = direct::open(text.data() + first, O_RDONLY);
    const bool is_for_other = interpreter >= 0 && is_for_other_loader(interpreter, false);
    if (interpreter >= 0) direct::close(interpreter);
    return is_for_other;
  }
  if (begin.size() < sizeof head || !begin.starts_with(ELFMAG)) return false;
  std::memcpy(&head, begin.data(), sizeof head);
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != own_machine) return true;
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    ElfW(Phdr) part;
    if (direct::read_at(file, &part, sizeof part, head.e_phoff + i * sizeof part) != sizeof part) return false;
    if (part.p_type == PT_INTERP) return is_other_loader(text_at(file, part.p_offset, part.p_filesz, text));
  }
  return false;
}

}  // namespace

bool is_for_other_loader(int file) noexcept {
  const int saved_errno = errno;
  const bool is_for_other = is_for_other_loader(file, true);
  errno = saved_errno;
  return is_for_other;
}

bool is_for_other_loader(const char* path) noexcept {
  const int saved_errno = errno;
  const int file = direct::open(path, O_RDONLY);
  const bool is_for_other = file >= 0 && is_for_other_loader(file, true);
  if (file >= 0) direct::close(file);
  errno = saved_errno;
  return is_for_other;
}

char* const* preload_of_ours(char* const* environment) noexcept {
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with(variable)) continue;
    bool has_ours = false;
    for_each_library(text.substr(variable.size()),
                     [&has_ours](std::string_view library) { has_ours = has_ours || is_ours(library); });
    return has_ours ? entry : nullptr;
  }
  return nullptr;
}

void write_without_ours(const char* entry, char* to) noexcept {
  char* end = std::copy(variable.begin(), variable.end(), to);
  for_each_library(entry + variable.size(), [&end, first = end](std::string_view library) {
    if (is_ours(library)) return;
    if (end != first) *end++ = ':';
    end = std::copy(library.begin(), library.end(), end);
  });
  *end = '\0';
}

}  // namespace halcyon
