// The contents of a file under the names of a profile, not yet checked: of an HDF5 file, or of frames. A separate
// process reads HDF5, which may crash.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libprofile/system/outcome.hpp"
#include "libprofile/format/stream.hpp"

namespace halcyon {

/// Values as they were received. A column comes in consecutive pieces, with the element type of the schema; its length
/// is not checked.
struct Contents {
  std::map<std::string, Frame, std::less<>> attributes;
  std::map<std::string, std::vector<Frame>, std::less<>> columns;
};

/// Keeps a profile in memory, as if it had been read from a file.
class ContentsSink final : public Sink {
 public:
  Contents take() { return std::move(contents_); }

 private:
  void put(FrameKind kind, ElementType type, std::string_view name, const void* data, std::size_t bytes) override {
    const char* const begin = static_cast<const char*>(data);
    Frame frame{kind, type, std::string(name), std::vector<char>(begin, begin + bytes)};
    if (kind == FrameKind::column) {
      contents_.columns[std::string(name)].push_back(std::move(frame));
    } else {
      contents_.attributes.insert_or_assign(std::string(name), std::move(frame));
    }
  }

  Contents contents_;
};

/// The most bytes that a file of `file_bytes` may unpack to. A segment has at most 90 bytes, and its duration alone
/// takes one or more in the file, however well it is compressed: real profiles stay far below.
constexpr std::uint64_t most_unpacked_bytes(std::uint64_t file_bytes) {
  constexpr std::uint64_t for_small_files = std::uint64_t{64} << 20;
  constexpr std::uint64_t ratio = 256;
  constexpr std::uint64_t most = std::uint64_t{8} << 30;
  return file_bytes > (most - for_small_files) / ratio ? most : for_small_files + ratio * file_bytes;
}

/// Reads all attributes of the root that are one text or one number, and all columns of the schema except `left_out`. A
/// separate process reads them, with limits on its memory and CPU time: libhdf5 crashes on some damaged files, and
/// loops or corrupts its memory on others. No check before opening a file could find these.
Outcome<Contents> fetch_contents(const std::string& path, std::span<const std::string_view> left_out = {});

/// The two halves of fetch_contents(): the work of that process, and the receipt of its frames.
void send_contents(const std::string& path, std::uint64_t most_bytes, int to,
                   std::span<const std::string_view> left_out = {});
Outcome<Contents> receive_contents(int from, std::uint64_t most_bytes, const std::string& path);

}  // namespace halcyon
