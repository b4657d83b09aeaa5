#include "libprofile/record/parts/part_file.hpp"

#define XXH_INLINE_ALL  // the preloaded libraries need no other library at run time
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/pieces.hpp"

namespace halcyon {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t up_to_page(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }

// Of a block, which consists of these pieces of memory.
class BlockChecksum {
 public:
  explicit BlockChecksum(std::uint64_t seed) {
    XXH3_INITSTATE(&state_);
    XXH3_64bits_reset_withSeed(&state_, seed);
  }
  void add(std::span<const std::byte> bytes) { XXH3_64bits_update(&state_, bytes.data(), bytes.size()); }
  std::uint64_t value() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

std::uint64_t checksum_of_block(const SegmentBlock& block, bool with_injection, std::size_t bins, std::uint64_t seed) {
  BlockChecksum checksum(seed);
  visit_closed_block(block, with_injection, bins, [&](std::span<const std::byte> bytes) { checksum.add(bytes); });
  return checksum.value();
}

void allocate(OwnedBlock& block) {
  if (block == nullptr) block = empty_block();
  if (block == nullptr) throw std::bad_alloc();
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error(path + " " + why);
}

}  // namespace

namespace {

// Without its domain. Hosts may write to directories of their own, whose parts are later brought together; and files
// that several hosts write to are slow on a shared file system.
std::string name_of_host() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof name - 1);
  const std::string whole = name;
  return whole.substr(0, whole.find('.'));
}

}  // namespace

std::uint64_t checksum_of(const std::byte* data, std::size_t bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

void PartFile::place(const std::string& directory, const std::string& run, PartHeader header,
                     const std::vector<std::byte>& facts, std::size_t most_in_tail, const std::string& second) {
  header_ = header;
  char first_rank[16];
  std::snprintf(first_rank, sizeof first_rank, "%06u", header.rank - header.place_in_file());
  const std::string name = "/" + run + "." + name_of_host() + "-" + first_rank + ".part";
  places_[0] = {.directory = directory, .path = directory + name};
  if (!second.empty()) places_[1] = {.directory = second, .path = second + name};
  header_.facts_bytes = facts.size();
  header_.tails_at = up_to_page(facts_of_part_at + facts.size());
  header_.blocks_at = (header_.tails_at + 2 * up_to_page(most_in_tail) + part_piece - 1) / part_piece * part_piece;
  most_in_tail_ = (header_.blocks_at - header_.tails_at) / 2;
  Packer packer;
  packer.put(part_magic);
  packer.put(part_version);
  for_each_number_of_header(header_, [&packer](const auto& number) { packer.put(number); });
  beginning_ = packer.take();
  std::vector<std::byte> checked = beginning_;
  checked.insert(checked.end(), facts.begin(), facts.end());
  packer.put(beginning_.data(), beginning_.size());
  packer.put(checksum_of(checked.data(), checked.size(), 0));
  beginning_ = packer.take();
  facts_ = facts;
}

std::uint64_t PartFile::in_file(std::uint64_t offset) const {
  const std::uint64_t piece = offset / part_piece * header_.ranks_in_file() + header_.place_in_file();
  return piece * part_piece + offset % part_piece;
}

// Bytes of another run, another rank or another place must not pass for these.
std::uint64_t PartFile::seed(std::uint64_t number) const {
  return header_.run ^ ((header_.rank + 1) * 0x9e3779b97f4a7c15u) ^ (number * 0xc2b2ae3d27d4eb4fu);
}

bool PartFile::create() {
  if (place_->path.empty()) return false;
  if (has_keeper()) {
    error_ = keeper_.create(place_->directory.c_str(), place_->path.c_str(), in_file(0));
    is_open_at_keeper_ = error_ == 0;
  }
  if (!has_keeper()) {
    spare_ = OwnDescriptor();  // its number is free for the file
    error_ = file_.create(place_->directory.c_str(), place_->path.c_str(), in_file(0));
  }
  // The byte between them may be set.
  if (error_ == 0 && write_at(facts_of_part_at, facts_.data(), facts_.size()) &&
      write_at(0, beginning_.data(), beginning_.size())) {
    is_beginning_sure_ = !keeper_.hurries();
    return true;
  }
  if (is_open()) withdraw();
  errno = error_;
  return false;
}

bool PartFile::settle() {
  if (!is_open_at_keeper_) return true;
  const int failed = keeper_.wait_for_answers();
  if (failed != 0) error_ = failed;
  if (failed != 0 && !is_beginning_sure_) withdraw();
  is_beginning_sure_ = true;
  return failed == 0;
}

// What is there of this part, which is not whole, is no longer taken for one. Other ranks may be writing into the file.
void PartFile::withdraw() {
  iovec bytes{const_cast<char*>(withdrawn_magic.data()), withdrawn_magic.size()};  // which are only read
  write_into_file(in_file(0), {&bytes, 1});
  place_->has_left_file = place_->has_left_file || is_open_at_keeper_ || file_.is_new();
  file_ = PartOnDisk();
  is_open_at_keeper_ = false;
}

bool PartFile::go_to_second_place() {
  if (tails_written_ != 0 || is_in_second_place() || places_[1].path.empty()) return false;
  if (file_.is_still_ours()) {
    withdraw();
    place_->has_left_file = true;
  }
  file_ = PartOnDisk();
  place_ = &places_[1];
  return true;
}

bool PartFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const std::size_t count = std::min<std::uint64_t>(bytes, part_piece - offset % part_piece);
    Vectors vectors;
    vectors[0] = {const_cast<std::byte*>(at), count};  // which are only read
    if (!write_vectors(in_file(offset), vectors, 1)) return false;
    at += count;
    offset += count;
    bytes -= count;
  }
  return true;
}

bool PartFile::read_at(std::uint64_t offset, std::byte* data, std::size_t bytes) const {
  while (bytes > 0) {
    const std::size_t count = std::min<std::uint64_t>(bytes, part_piece - offset % part_piece);
    if (!halcyon::read_at(file_.number(), in_file(offset), data, count)) return false;
    data += count;
    offset += count;
    bytes -= count;
  }
  return true;
}

// `offset`: in the file.
bool PartFile::write_vectors(std::uint64_t offset, Vectors& vectors, std::size_t count) {
  ++writes_;
  if (!is_open() && !create()) {
    error_ = errno;
    return false;
  }
  const int failed = write_into_file(offset, {vectors.data(), count});
  if (failed != 0) error_ = failed;
  return failed == 0;
}

int PartFile::write_into_file(std::uint64_t offset, std::span<iovec> pieces) {
  return is_open_at_keeper_ ? keeper_.write(offset, pieces) : file_.write(offset, pieces);
}

// The first rank's own beginning does not touch the byte, and may come later. Ranks that ask at the same time: one of
// them holds the file; where the file system knows no locks, they may all be first.
bool PartFile::is_first_to_tell() const {
  if (!file_.is_still_ours()) return false;
  if (syscall(SYS_flock, file_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  std::byte is_told{};
  halcyon::read_at(file_.number(), part_beginning_size, &is_told, sizeof is_told);
  const bool is_first = is_told == std::byte{};
  is_told = std::byte{1};
  const iovec byte{&is_told, sizeof is_told};
  if (is_first) direct::write_at(file_.number(), &byte, 1, part_beginning_size);
  syscall(SYS_flock, file_.number(), LOCK_UN);
  return is_first;
}

bool PartFile::write_block(std::size_t index, const SegmentBlock& block) {
  const bool with_injection = header_.with_injection != 0;
  const std::size_t bins = block.bins();
  std::uint64_t checksum = checksum_of_block(block, with_injection, bins, seed(index));
  Vectors vectors;
  vectors[0] = {&checksum, sizeof checksum};
  std::size_t count = 1;
  visit_closed_block(block, with_injection, bins, [&](std::span<const std::byte> bytes) {
    vectors[count++] = {const_cast<std::byte*>(bytes.data()), bytes.size()};  // which are only read
  });
  return write_vectors(place_of_block(index), vectors, count);
}

bool PartFile::write_tail(std::byte* tail, std::size_t bytes) {
  TailHeader header;
  header.sequence = tails_written_ + 1;
  header.bytes = bytes - tail_header_size;
  header.checksum = checksum_of(tail + tail_header_size, header.bytes, seed(~header.sequence));
  Cursor out(tail);
  for_each_number_of_tail_header(header, [&out](const auto& number) { out.put(number); });
  if (!write_at(header_.tails_at + tails_written_ % 2 * most_in_tail_, tail, bytes)) return false;
  ++tails_written_;
  return true;
}

bool PartFile::read_block(std::size_t index, SegmentBlock& block) const {
  if (!file_.is_still_ours()) return false;
  const bool with_injection = header_.with_injection != 0;
  std::uint64_t checksum = 0;
  Vectors vectors;
  vectors[0] = {&checksum, sizeof checksum};
  std::size_t count = 1;
  std::size_t most = sizeof checksum;
  visit_closed_block(block, with_injection, block.bin_values.size(), [&](std::span<std::byte> bytes) {
    vectors[count++] = {bytes.data(), bytes.size()};
    most += bytes.size();
  });
  // The file may end with the last value of a bin.
  const std::uint64_t at = place_of_block(index);
  std::size_t got = 0;
  for (std::span<iovec> pieces(vectors.data(), count); !pieces.empty();) {
    const ssize_t read = direct::read_at(file_.number(), pieces.data(), pieces.size(), at + got);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) break;
    got += static_cast<std::size_t>(read);
    pieces = behind(pieces, static_cast<std::size_t>(read));
  }
  const std::size_t most_of_values = sizeof block.bin_values;
  if (got < most - most_of_values) return false;
  const std::size_t bins = block.bins();
  if (bins > block.bin_values.size() || got < most - most_of_values + bins * sizeof(float)) return false;
  return checksum_of_block(block, with_injection, bins, seed(index)) == checksum;
}

void PartFile::read_back(std::size_t index, OwnedBlock& block) const {
  allocate(block);
  if (!read_block(index, *block)) {
    throw std::runtime_error("segments that were spilled cannot be read back from " + path());
  }
}

void PartFile::read_maps(std::size_t index, OwnedBlock& block) const {
  allocate(block);
  std::uint64_t at = place_of_block(index) + sizeof(std::uint64_t) + bytes_before_maps(header_.with_injection != 0);
  const bool has_maps = halcyon::read_at(file_.number(), at, block->maps.data(), sizeof block->maps);
  at += sizeof block->maps;
  if (!has_maps || !halcyon::read_at(file_.number(), at, &block->mapped, sizeof block->mapped)) {
    refuse(path(), "changes while it is read");
  }
}

void PartFile::open_existing(const std::string& path) {
  place_->path = path;
  file_ = PartOnDisk(OwnDescriptor(direct::open(path.c_str(), O_RDONLY)));
  if (!file_) refuse(path, std::string("cannot be opened: ") + std::strerror(errno));
}

// Throws if it is not the beginning of a part.
void PartFile::read_beginning(std::uint32_t place) {
  std::vector<std::byte> beginning(part_beginning_size);
  const bool is_long_enough = halcyon::read_at(file_.number(), place * part_piece, beginning.data(), beginning.size());
  Unpacker in(beginning);
  // Older versions had their number, a digit, at the end of the magic.
  if (!is_long_enough || std::memcmp(beginning.data(), part_magic.data(), part_magic.size() - 1) != 0) {
    refuse(path(), "is not a part of a run that Halcyon recorded");
  }
  const bool has_this_magic = in.get<PartMagic>() == part_magic;
  const auto version = in.get<std::uint32_t>();
  for_each_number_of_header(header_, [&in](auto& number) { in.get(number); });
  if (!has_this_magic || version != part_version || header_.layout != layout_of_part()) {
    const std::string number =
        has_this_magic && version != part_version
            ? " (parts of version " + std::to_string(version) + ", not " + std::to_string(part_version) + ")"
            : "";
    refuse(path(), "was written by another version of Halcyon" + number + "; recover it with that version");
  }
  struct stat state {};
  direct::status(file_.number(), state);
  const auto size = static_cast<std::uint64_t>(state.st_size);
  constexpr std::uint32_t most_ranks = 1u << 24;
  if (header_.ranks == 0 || header_.ranks > most_ranks || header_.rank >= header_.ranks ||
      header_.place_in_file() != place || header_.facts_bytes > size ||
      header_.tails_at < facts_of_part_at + header_.facts_bytes || header_.tails_at > size ||
      header_.blocks_at <= header_.tails_at || header_.blocks_at - header_.tails_at > (std::uint64_t{1} << 30) ||
      header_.blocks_at % part_piece != 0) {
    refuse(path(), "is corrupted: its header contradicts itself");
  }
  most_in_tail_ = (header_.blocks_at - header_.tails_at) / 2;
}

PartsInFile PartFile::parts_in(const std::string& path) {
  PartFile file;
  file.open_existing(path);
  PartsInFile found;
  std::vector<std::uint32_t> places;
  std::string first_error;
  std::uint32_t ranks_in_file = ranks_per_file;
  std::uint32_t first_rank = 0;
  bool is_known = false;
  bool is_withdrawn = false;
  for (std::uint32_t place = 0; place < ranks_in_file; ++place) {
    PartMagic magic{};
    if (!halcyon::read_at(file.file_.number(), place * part_piece, magic.data(), magic.size())) continue;
    is_withdrawn = is_withdrawn || magic == withdrawn_magic;
    if (is_free(magic)) continue;
    places.push_back(place);
    if (is_known) continue;
    try {
      file.read_beginning(place);
      is_known = true;
      found.run = file.header_.run;
      first_rank = file.header_.rank - place;
      ranks_in_file = file.header_.ranks_in_file();
    } catch (const std::runtime_error& error) {
      if (first_error.empty()) first_error = error.what();
    }
  }
  struct stat state {};
  const bool is_empty = direct::status(file.file_.number(), state) == 0 && state.st_size == 0;
  if (places.empty() && (is_withdrawn || is_empty)) return found;
  if (!is_known) {
    throw std::runtime_error(first_error.empty() ? path + " is not a part of a run that Halcyon recorded"
                                                 : first_error);
  }
  for (const std::uint32_t place : places) {
    if (place < ranks_in_file) found.ranks.push_back(first_rank + place);
  }
  return found;
}

void PartFile::open_for_reading(const std::string& path, std::uint32_t rank, PartFile& part) {
  part.open_existing(path);
  part.read_beginning(rank % ranks_per_file);
  std::vector<std::byte> beginning(facts_of_part_at + part.header_.facts_bytes);
  constexpr std::size_t checksum_at = part_beginning_size - sizeof(std::uint64_t);
  std::uint64_t checksum = 0;
  const bool is_read = part.read_at(0, beginning.data(), beginning.size());
  std::memcpy(&checksum, beginning.data() + checksum_at, sizeof checksum);
  beginning.erase(beginning.begin() + checksum_at, beginning.begin() + facts_of_part_at);
  if (!is_read || part.header_.rank != rank || checksum_of(beginning.data(), beginning.size(), 0) != checksum) {
    refuse(path, "is corrupted: its header does not have its checksum");
  }
}

std::vector<std::byte> PartFile::read_tail() const {
  std::vector<std::byte> newest;
  std::uint64_t sequence = 0;
  for (std::uint64_t place = 0; place < 2; ++place) {
    const TailHeader header = tail_header(place);
    if (header.sequence <= sequence || header.bytes > most_in_tail_ - tail_header_size) continue;
    std::vector<std::byte> tail(header.bytes);
    if (!read_at(header_.tails_at + place * most_in_tail_ + tail_header_size, tail.data(), tail.size()) ||
        checksum_of(tail.data(), tail.size(), seed(~header.sequence)) != header.checksum) {
      continue;
    }
    newest = std::move(tail);
    sequence = header.sequence;
  }
  return newest;
}

// All zero if it cannot be read.
TailHeader PartFile::tail_header(std::uint64_t place) const {
  TailHeader header;
  std::vector<std::byte> beginning(tail_header_size);
  if (!read_at(header_.tails_at + place * most_in_tail_, beginning.data(), beginning.size())) return header;
  Unpacker in(beginning);
  for_each_number_of_tail_header(header, [&in](auto& number) { in.get(number); });
  return header;
}

bool PartFile::has_tail() const { return tail_header(0).sequence != 0 || tail_header(1).sequence != 0; }

std::vector<std::byte> PartFile::read_facts() const {
  std::vector<std::byte> facts(header_.facts_bytes);
  if (!read_at(facts_of_part_at, facts.data(), facts.size())) facts.clear();
  return facts;
}

std::size_t PartFile::blocks_within() const {
  struct stat state {};
  direct::status(file_.number(), state);
  const std::uint64_t in_file = (static_cast<std::uint64_t>(state.st_size) + part_piece - 1) / part_piece;
  const std::uint64_t ranks = header_.ranks_in_file();
  const std::uint64_t pieces = (in_file + ranks - 1 - header_.place_in_file()) / ranks;
  const std::uint64_t before_blocks = header_.blocks_at / part_piece;
  return pieces > before_blocks ? pieces - before_blocks : 0;
}

void PartFile::remove_run() {
  for (const Place& place : places_) {
    if (place.path.empty()) continue;
    if (has_keeper()) {
      keeper_.remove_run(place.directory.c_str(), place.path.c_str());
    } else {
      PartOnDisk::remove_run(place.directory, place.path);
    }
  }
}

void PartFile::remove() {
  for (const Place& place : places_) {
    const bool is_here = &place == place_ && is_open();
    if (!is_here && !place.has_left_file) continue;
    if (has_keeper()) {
      keeper_.remove(place.directory.c_str(), place.path.c_str());
    } else {
      const PartOnDisk closed;
      (is_here ? file_ : closed).remove(place.directory.c_str(), place.path.c_str());
    }
  }
}

}  // namespace halcyon
