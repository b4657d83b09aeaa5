// How a rank tells `halcyon run` which profile, or which directory of parts, there is: the receipt's first line.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "libprofile/format/stream.hpp"

namespace halcyon {

/// What fails here is told by who waits for the receipt. Goes before an earlier one in a single write, and never
/// empties it first: a launcher that kills this rank in between would take away what another rank has told.
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
