// The frames that carry a profile between processes: from rank 0 of a run to the process that writes the file, and from
// the process that reads a file to the command that asked for it. They hold named values and named pieces of columns,
// in the order in which they are stored. Plain functions over a file descriptor, since the preloaded library contains
// no HDF5.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "libprofile/format/element.hpp"
#include "libprofile/format/sink.hpp"

namespace halcyon {

struct FrameHeader {
  char magic[4] = {'H', 'L', 'F', '1'};
  FrameKind kind = FrameKind::end;
  ElementType element = ElementType::u8;
  std::uint16_t name_size = 0;
  std::uint64_t payload_bytes = 0;
};
static_assert(sizeof(FrameHeader) == 16);

/// Writes all `size` bytes, or returns false with errno set.
inline bool write_fully(int file, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// Reads all `size` bytes, or returns false at the end of the stream or on an error.
inline bool read_fully(int file, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::read(file, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// Writes frames. After a failure it writes nothing more, and ok() is false.
class FrameWriter final : public Sink {
 public:
  explicit FrameWriter(int file) : file_(file) {}

  void end() { put(FrameKind::end, ElementType::u8, {}, nullptr, 0); }
  void failure(std::string_view why) { put(FrameKind::failure, ElementType::text, {}, why.data(), why.size()); }

  bool ok() const { return ok_; }

 private:
  void put(FrameKind kind, ElementType element, std::string_view name, const void* payload,
           std::size_t bytes) override {
    FrameHeader header;
    header.kind = kind;
    header.element = element;
    header.name_size = static_cast<std::uint16_t>(name.size());
    header.payload_bytes = bytes;
    ok_ = ok_ && write_fully(file_, &header, sizeof header) && write_fully(file_, name.data(), name.size()) &&
          write_fully(file_, payload, bytes);
  }

  int file_;
  bool ok_ = true;
};

/// The bytes as one number, if they have its size.
template <class T>
std::optional<T> number_in(std::string_view bytes) {
  T value;
  if (bytes.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

struct Frame {
  FrameKind kind = FrameKind::end;
  ElementType element = ElementType::u8;
  std::string name;
  std::vector<char> payload;

  std::string_view bytes() const { return {payload.data(), payload.size()}; }
  /// The payload as one number, if it has that size.
  template <class T>
  std::optional<T> number() const {
    return number_in<T>(bytes());
  }
};

enum class Received : std::uint8_t { frame, ended_early, damaged };

/// Reads the next frame, with at most `most_bytes` of payload. Memory grows with the bytes that arrive, not with the
/// size in the header.
inline Received read_frame(int file, Frame& frame, std::uint64_t most_bytes = ~std::uint64_t{0}) {
  FrameHeader header;
  const FrameHeader expected;
  if (!read_fully(file, &header, sizeof header)) return Received::ended_early;
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 || header.kind > FrameKind::failure ||
      header.element > ElementType::text || header.payload_bytes > most_bytes) {
    return Received::damaged;
  }
  frame.kind = header.kind;
  frame.element = header.element;
  frame.name.resize(header.name_size);
  frame.payload.clear();
  if (!read_fully(file, frame.name.data(), frame.name.size())) return Received::ended_early;
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  for (std::uint64_t left = header.payload_bytes; left > 0;) {
    const std::size_t size = static_cast<std::size_t>(std::min(left, piece));
    const std::size_t at = frame.payload.size();
    frame.payload.resize(at + size);
    if (!read_fully(file, frame.payload.data() + at, size)) return Received::ended_early;
    left -= size;
  }
  const bool says_nothing = frame.kind == FrameKind::failure && frame.payload.empty();
  return says_nothing ? Received::damaged : Received::frame;
}

}  // namespace halcyon
