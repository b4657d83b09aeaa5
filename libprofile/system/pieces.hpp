// Pieces of memory that one call reads or writes.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace halcyon {

/// What is left of them behind the first bytes, by changing them. Async-signal-safe.
inline std::span<iovec> behind(std::span<iovec> pieces, std::size_t bytes) {
  while (!pieces.empty() && bytes >= pieces.front().iov_len) {
    bytes -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (!pieces.empty()) {
    iovec& first = pieces.front();
    first = {static_cast<char*>(first.iov_base) + bytes, first.iov_len - bytes};
  }
  return pieces;
}

}  // namespace halcyon
