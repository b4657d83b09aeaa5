#include "libprofile/system/environment.hpp"

#include <unistd.h>

#include <cstring>
#include <string_view>

namespace halcyon {
namespace {

bool is_ours(std::string_view entry) { return entry.starts_with("HALCYON_") || entry.starts_with("INTM_"); }

// NAME=VALUE of each of ours, each with a zero behind it, and an empty one at the end. Copied, since programs that
// change their name for `ps` write over the strings that they were given.
char* at_the_begin = nullptr;

[[gnu::constructor]] void keep_variables() {
  std::size_t size = 0;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (is_ours(*entry)) size += std::strlen(*entry) + 1;
  }
  char* end = size != 0 ? static_cast<char*>(std::malloc(size + 1)) : nullptr;
  if (end == nullptr) return;
  at_the_begin = end;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (is_ours(*entry)) end = stpcpy(end, *entry) + 1;
  }
  *end = '\0';
}

}  // namespace

const char* setting(const char* name) {
  if (const char* const value = std::getenv(name)) return *value != '\0' ? value : nullptr;
  const std::size_t length = std::strlen(name);
  for (const char* entry = at_the_begin; entry != nullptr && *entry != '\0'; entry += std::strlen(entry) + 1) {
    if (std::strncmp(entry, name, length) != 0 || entry[length] != '=') continue;
    return entry[length + 1] != '\0' ? entry + length + 1 : nullptr;
  }
  return nullptr;
}

}  // namespace halcyon
