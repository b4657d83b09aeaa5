// A part: the file with the records that one rank has spilled, so that memory stays bounded and a run that dies keeps
// its records. `halcyon recover` makes a profile of the parts of a run (recover/recover.hpp).
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/format/packing.hpp"
#include "libprofile/record/block/segment_block.hpp"

namespace halcyon {

/// Follows the magic and part_version at the beginning of the file. After it come the facts of the run, two places for
/// tails, and the closed blocks.
struct PartHeader {
  std::uint64_t layout = layout_of_part();
  std::uint64_t run = 0;  // a number that all parts of a run share
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t with_injection = 0;
  std::uint64_t block_stride = 0;
  std::uint64_t facts_bytes = 0;
  std::uint64_t tails_at = 0;
  std::uint64_t blocks_at = 0;
};

/// The tail holds everything that is not in a closed block. It is written to two places in turn, so that one is whole
/// whenever the process is killed. The valid one with the higher sequence counts.
struct TailHeader {
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;     // after this header
  std::uint64_t checksum = 0;  // of these bytes
};

/// The numbers of each header, in the order in which they are stored.
template <class Header, class Visit>
constexpr void for_each_number_of_header(Header& header, Visit&& visit) {
  visit(header.layout);
  visit(header.run);
  visit(header.rank);
  visit(header.ranks);
  visit(header.with_injection);
  visit(header.block_stride);
  visit(header.facts_bytes);
  visit(header.tails_at);
  visit(header.blocks_at);
}
template <class Header, class Visit>
constexpr void for_each_number_of_tail_header(Header& header, Visit&& visit) {
  visit(header.sequence);
  visit(header.bytes);
  visit(header.checksum);
}
inline constexpr std::array<char, 8> part_magic{'H', 'L', 'C', 'P', 'A', 'R', 'T', '\0'};
inline constexpr std::size_t part_beginning_size =
    sizeof part_magic + sizeof part_version +
    packed_size<PartHeader>([](auto& header, auto visit) { for_each_number_of_header(header, visit); });
inline constexpr std::size_t tail_header_size =
    packed_size<TailHeader>([](auto& header, auto visit) { for_each_number_of_tail_header(header, visit); });

std::uint64_t checksum_of(const std::byte* data, std::size_t bytes);

/// Creates, writes and reads back a part. Writing is async-signal-safe, and blocks SIGXFSZ, so that a limit on file
/// sizes does not end the program.
class PartFile {
 public:
  PartFile() = default;
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Sets the path of a new part, `name` in `directory`. Both are created only when something is written.
  void place(const std::string& directory, const std::string& name, PartHeader header,
             const std::vector<std::byte>& facts, std::size_t most_in_tail);
  /// Opens an existing part. Throws std::runtime_error, with a message for the user, if it is not one.
  static void open_for_reading(const std::string& path, PartFile& part);

  bool write_block(std::size_t index, const SegmentBlock& block);
  /// `tail` begins with tail_header_size bytes, which write_tail() fills in.
  bool write_tail(std::byte* tail, std::size_t bytes);
  /// Throws std::runtime_error, or std::bad_alloc.
  OwnedBlock read_block(std::size_t index) const;
  /// The last whole tail, without its header; empty if there is none.
  std::vector<std::byte> read_tail() const;
  std::vector<std::byte> read_facts() const;

  const PartHeader& header() const { return header_; }
  /// Number of blocks that the size of the file has room for.
  std::size_t blocks_within() const;
  const std::string& directory() const { return directory_; }
  bool is_open() const { return file_ >= 0; }
  /// Grows with each successful or failed write.
  std::uint64_t writes() const { return writes_; }
  /// errno of the last failed write.
  int error() const { return error_; }
  /// Removes the file, and the directory if that is then empty.
  void remove();
  /// Removes the parts of all ranks of the run, also of ranks that have died since the profile was complete.
  void remove_run();

 private:
  bool create();
  bool is_still_ours() const;
  using Pieces = std::array<iovec, most_pieces_of_block>;
  bool write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  bool write_all(std::uint64_t offset, Pieces& pieces, std::size_t count);

  std::string directory_;
  std::string path_;
  PartHeader header_;
  std::vector<std::byte> beginning_;  // header and facts
  std::size_t most_in_tail_ = 0;
  int file_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t tails_written_ = 0;
  std::uint64_t writes_ = 0;
  int error_ = 0;
};

}  // namespace halcyon
