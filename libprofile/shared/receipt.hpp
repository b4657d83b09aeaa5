// The receipt: its first line gives `halcyon run` the path of the profile, or of the directory of parts. `halcyon run`
// makes the file, so a rank finds it only if it sees the same directory.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "libprofile/format/stream.hpp"

namespace halcyon {

/// The second line, after that of parts, if the launcher says that some ranks run on other hosts.
inline constexpr char of_several_hosts[] = "of several hosts";

/// False if there is no such file here, or it cannot be written. A single write puts the lines over earlier ones,
/// without truncating the file first: if a launcher killed this rank in between, the line of another rank would be
/// lost. `second` may be empty. Async-signal-safe.
inline bool leave_receipt(const char* receipt, const char* path, const char* second = "") {
  char lines[PATH_MAX + sizeof of_several_hosts + 1];
  const std::size_t length = std::strlen(path);
  const std::size_t length_of_second = std::strlen(second);
  if (*receipt == '\0' || length + length_of_second + 2 > sizeof lines) return false;
  std::memcpy(lines, path, length);
  lines[length] = '\n';
  std::memcpy(lines + length + 1, second, length_of_second);
  lines[length + 1 + length_of_second] = '\n';
  const int file = open(receipt, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_left = write_fully(file, lines, length + 1 + (length_of_second > 0 ? length_of_second + 1 : 0));
  close(file);
  return is_left;
}

}  // namespace halcyon
