// Programs that another loader starts than this process: those of musl, of 32 bits, or of another processor. A library
// of ours that is preloaded ends the first before they begin, and the loaders of the others complain of it.
#pragma once

#include <alloca.h>

#include <cstddef>
#include <cstring>

namespace halcyon {

/// Of an open file, or of the interpreter of a script. Async-signal-safe, as is all of this.
bool is_for_other_loader(int file) noexcept;
bool is_for_other_loader(const char* path) noexcept;

/// The entry LD_PRELOAD of an environment, if it names a library of ours; else null.
char* const* preload_of_ours(char* const* environment) noexcept;
/// Writes that entry without our libraries; `to` has room for as much.
void write_without_ours(const char* entry, char* to) noexcept;

/// Calls `execute(environment)` for a program of another loader or not. Ours are left out of its LD_PRELOAD.
template <class IsForOther, class Execute>
int execute_with(char* const* environment, IsForOther is_for_other, Execute execute) {
  char* const* const entry = preload_of_ours(environment);
  if (entry == nullptr || !is_for_other()) return execute(environment);
  std::size_t count = static_cast<std::size_t>(entry - environment) + 1;
  while (environment[count] != nullptr) ++count;
  auto** const changed = static_cast<char**>(alloca((count + 1) * sizeof(char*)));
  std::memcpy(changed, environment, (count + 1) * sizeof(char*));
  auto* const text = static_cast<char*>(alloca(std::strlen(*entry) + 1));
  write_without_ours(*entry, text);
  changed[entry - environment] = text;
  return execute(changed);
}

}  // namespace halcyon
