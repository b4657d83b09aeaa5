// A part: the spilled data of one rank. It keeps memory bounded, and saves the records of a run that dies. Parts of up
// to 64 ranks share a file. `halcyon recover` makes a profile of the parts of a run (recover/recover.hpp).
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/format/packer.hpp"
#include "libprofile/record/block/segment_block.hpp"
#include "libprofile/record/parts/part_on_disk.hpp"
#include "libprofile/record/parts/spool_keeper.hpp"
#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {

/// Number of ranks of a host whose parts share a file. The file follows from the rank's number, so no rank needs to
/// know the others. The file system creates, opens and removes one file for 64 ranks, not one for each.
inline constexpr std::uint32_t ranks_per_file = 64;

/// A part is written in pieces of this size. The pieces of the ranks of a file alternate: piece n of the rank with
/// number r in the file is piece n * ranks + r of the file. A piece that was not written is a hole, and takes no space.
inline constexpr std::uint64_t part_piece = (sizeof(std::uint64_t) + most_block_bytes + 4095) / 4096 * 4096;

/// Follows the magic and part_version at the beginning of a part, and is followed by a checksum of all this and of the
/// facts of the run. Then come a byte that says in the first part of a file whether the user has been told of it, the
/// facts, two places for tails, and from the next piece on the closed blocks, each in a piece of its own, with its
/// checksum before it.
struct PartHeader {
  std::uint64_t layout = layout_of_part();
  std::uint64_t run = 0;  // a number that all parts of a run share
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t with_injection = 0;
  std::uint64_t facts_bytes = 0;
  std::uint64_t tails_at = 0;
  std::uint64_t blocks_at = 0;

  std::uint32_t ranks_in_file() const { return ranks < ranks_per_file ? ranks : ranks_per_file; }
  std::uint32_t place_in_file() const { return rank % ranks_per_file; }
};

/// The tail holds everything that is not in a closed block. It is written to two places in turn, so that one is always
/// complete if the process is killed. The valid one with the higher sequence counts.
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
inline constexpr PartMagic part_magic{'H', 'L', 'C', 'P', 'A', 'R', 'T', '\0'};
inline constexpr std::size_t part_beginning_size =
    sizeof part_magic + sizeof part_version +
    packed_size<PartHeader>([](auto& header, auto visit) { for_each_number_of_header(header, visit); }) +
    sizeof(std::uint64_t);  // the checksum
inline constexpr std::size_t facts_of_part_at = part_beginning_size + 1;
inline constexpr std::size_t tail_header_size =
    packed_size<TailHeader>([](auto& header, auto visit) { for_each_number_of_tail_header(header, visit); });

/// XXH3. `seed`: differs between places, so that bytes of another place do not pass for these. Async-signal-safe.
std::uint64_t checksum_of(const std::byte* data, std::size_t bytes, std::uint64_t seed);

/// The parts in a file, all of one run.
struct PartsInFile {
  std::uint64_t run = 0;
  std::vector<std::uint32_t> ranks;
};

/// Creates, writes and reads back a part. Writing is async-signal-safe, and blocks SIGXFSZ, so that a limit on file
/// sizes does not end the program.
class PartFile {
 public:
  PartFile() = default;
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// Makes sure that there is a descriptor for the file when it is created.
  void reserve_descriptor() { spare_ = spare_descriptor(); }

  /// The process of this name writes the part; this one does where there is none. Such a part is not read back.
  void leave_to(const std::string& keeper) { keeper_ = SpoolKeeper(keeper); }
  /// As SpoolKeeper::save().
  int save(const std::string& profile, int frames) { return has_keeper() ? keeper_.save(profile, frames) : EPIPE; }
  /// What is written from now on may be the last: whether it is there, settle() says.
  void hurry(bool is_last) { keeper_.hurry(is_last); }
  bool settle();
  void leave_no_more() { keeper_.let_go(); }

  /// Sets the place of a new part: the file `RUN.HOST-FIRST.part` in `directory`, with the number of the run, and that
  /// of the first of the ranks that share the file. Both are created only when something is written. `second`: the
  /// directory that is left for it where the first one has no room.
  void place(const std::string& directory, const std::string& run, PartHeader header,
             const std::vector<std::byte>& facts, std::size_t most_in_tail, const std::string& second = {});
  /// Leaves the first place, where no tail could be written, for the second. False if that is not so, or has been done.
  /// Async-signal-safe.
  bool go_to_second_place();
  bool is_in_second_place() const { return place_ == &places_[1]; }

  /// The parts in a file; none if nothing was written to it. Throws std::runtime_error, with a message for the user, if
  /// something else was.
  static PartsInFile parts_in(const std::string& path);
  /// Opens one of them. Throws std::runtime_error, with a message for the user, if its beginning is not whole.
  static void open_for_reading(const std::string& path, std::uint32_t rank, PartFile& part);

  /// True for one rank of those whose parts are in the file, that which asks first: it tells the user of them. False
  /// before anything is written. Async-signal-safe.
  bool is_first_to_tell() const;

  bool write_block(std::size_t index, const SegmentBlock& block);
  /// `tail` begins with tail_header_size bytes, which write_tail() fills in.
  bool write_tail(std::byte* tail, std::size_t bytes);
  /// False if the block does not have its checksum, or cannot be read.
  bool read_block(std::size_t index, SegmentBlock& block) const;
  /// The same into memory that is allocated if there is none. Throws std::runtime_error instead, or std::bad_alloc.
  void read_back(std::size_t index, OwnedBlock& block) const;
  /// Reads only SegmentBlock::maps and `mapped`, which no checksum of their own protects.
  void read_maps(std::size_t index, OwnedBlock& block) const;
  /// The last whole tail, without its header; empty if there is none.
  std::vector<std::byte> read_tail() const;
  /// Whether a tail was ever written, whole or not.
  bool has_tail() const;
  std::vector<std::byte> read_facts() const;

  const PartHeader& header() const { return header_; }
  /// Number of blocks that the size of the file has room for.
  std::size_t blocks_within() const;
  const std::string& directory() const { return place_->directory; }
  const std::string& path() const { return place_->path; }
  bool is_open() const { return file_ || is_open_at_keeper_; }
  /// Grows with each successful or failed write.
  std::uint64_t writes() const { return writes_; }
  /// errno of the last failed write.
  int error() const { return error_; }
  /// Removes the file with the parts of its ranks, and the directory if that is then empty.
  void remove();
  /// Removes the parts of all ranks of the run, also of ranks that have died since the profile was complete.
  void remove_run();

 private:
  bool create();
  using Vectors = std::array<iovec, most_pieces_of_block + 1>;
  std::uint64_t in_file(std::uint64_t offset) const;
  std::uint64_t place_of_block(std::size_t index) const { return in_file(header_.blocks_at + index * part_piece); }
  std::uint64_t seed(std::uint64_t number) const;
  void open_existing(const std::string& path);
  void read_beginning(std::uint32_t place);
  TailHeader tail_header(std::uint64_t place) const;
  bool write_at(std::uint64_t offset, const void* data, std::size_t bytes);
  bool read_at(std::uint64_t offset, std::byte* data, std::size_t bytes) const;
  bool write_vectors(std::uint64_t offset, Vectors& vectors, std::size_t count);
  int write_into_file(std::uint64_t offset, std::span<iovec> pieces);
  bool has_keeper() { return keeper_.is_there(spare_); }

  struct Place {
    std::string directory;
    std::string path;
    bool has_left_file = false;  // created, and not used: nothing could be written into it
  };
  void withdraw();

  std::array<Place, 2> places_;
  Place* place_ = &places_[0];
  PartHeader header_;
  std::vector<std::byte> beginning_;  // without the facts
  std::vector<std::byte> facts_;
  std::size_t most_in_tail_ = 0;
  PartOnDisk file_;
  SpoolKeeper keeper_;
  bool is_open_at_keeper_ = false;
  bool is_beginning_sure_ = true;  // answered, or written by this process
  OwnDescriptor spare_;
  std::uint64_t tails_written_ = 0;
  std::uint64_t writes_ = 0;
  int error_ = 0;
};

}  // namespace halcyon
