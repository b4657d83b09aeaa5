// The receipt: its first line tells `halcyon run` the path of the profile, or of the directory of parts.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "libprofile/format/stream.hpp"

namespace halcyon {

/// Reports no error: whoever waits for the receipt does. A single write puts the line over an earlier one, without
/// truncating the file first: if a launcher killed this rank in between, the line of another rank would be lost.
/// Async-signal-safe.
inline void leave_receipt(const char* receipt, const char* path) {
  char line[PATH_MAX + 1];
  const std::size_t length = std::strlen(path);
  if (*receipt == '\0' || length >= sizeof line) return;
  std::memcpy(line, path, length);
  line[length] = '\n';
  const int file = open(receipt, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  write_fully(file, line, length + 1);
  close(file);
}

}  // namespace halcyon
