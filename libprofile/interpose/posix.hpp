// Questions about a POSIX or stdio call that the wrappers of both tools ask.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

namespace halcyon {

/// Calls fstat each time: a remembered answer goes wrong after dup2, after fclose, and when a socket reuses the number.
inline bool is_regular(int file) {
  struct stat status {};
  const int saved = errno;
  const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  errno = saved;
  return regular;
}
inline bool is_regular(FILE* stream) {
  if (stream == nullptr) return false;
  const int saved = errno;
  const int file = fileno(stream);
  errno = saved;
  return file >= 0 && is_regular(file);
}
inline std::uint64_t text_length(const char* text) { return text != nullptr ? std::strlen(text) : 0; }

/// Whether a POSIX or stdio call succeeded, by the type of its result.
template <class Result>
bool succeeded(Result result) {
  if constexpr (std::is_pointer_v<Result>) return result != nullptr;
  if constexpr (std::is_signed_v<Result>) return result >= 0;
  return true;
}

}  // namespace halcyon
