// Which loader starts a program.
#pragma once

#include <string_view>

namespace halcyon {

/// Whether the loader of this path is another one than glibc's, such as musl's: it ends a program into which a library
/// for glibc is to be preloaded, and has other ways to say which libraries a program needs.
constexpr bool is_other_loader(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  return !name.starts_with("ld") || name.starts_with("ld-musl");
}

}  // namespace halcyon
