// How a rank tells `halcyon run` which profile, or which directory of parts, there is.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "libprofile/format/stream.hpp"

namespace halcyon {

/// What fails here is told by who waits for the receipt. Replaces an earlier one. Async-signal-safe.
inline void leave_receipt(const char* receipt, const char* path) {
  if (*receipt == '\0') return;
  const int file = open(receipt, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  write_fully(file, path, std::strlen(path));
  close(file);
}

}  // namespace halcyon
