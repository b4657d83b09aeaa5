#include "libprofile/record/parts/part_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

#include "libprofile/interpose/signal_blocked.hpp"
#include "libprofile/system/descriptor.hpp"

namespace halcyon {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t up_to_page(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }

// Above the numbers that programs rely on, or close because they do not know them.
constexpr int least_descriptor = 512;

}  // namespace

std::uint64_t checksum_of(const std::byte* data, std::size_t bytes) {
  std::uint64_t sum = bytes;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, bytes - at < sizeof word ? bytes - at : sizeof word);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

PartFile::~PartFile() {
  if (file_ >= 0 && is_still_ours()) close(file_);
}

void PartFile::place(const std::string& directory, const std::string& name, PartHeader header,
                     const std::vector<std::byte>& facts, std::size_t most_in_tail) {
  directory_ = directory;
  path_ = directory + "/" + name;
  most_in_tail_ = up_to_page(most_in_tail);
  header_ = header;
  header_.block_stride = up_to_page(block_bytes(header.with_injection != 0));
  header_.facts_bytes = facts.size();
  header_.tails_at = up_to_page(part_beginning_size + facts.size());
  header_.blocks_at = header_.tails_at + 2 * most_in_tail_;
  Packer packer;
  packer.put(part_magic);
  packer.put(part_version);
  for_each_number_of_header(header_, [&packer](const auto& number) { packer.put(number); });
  packer.put(facts.data(), facts.size());
  beginning_ = packer.take();
}

// The program may have closed our file, and its number may belong to another file now.
bool PartFile::is_still_ours() const {
  struct stat now {};
  return fstat(file_, &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
}

bool PartFile::create() {
  if (path_.empty()) return false;
  if (mkdir(directory_.c_str(), 0755) != 0 && errno != EEXIST) return false;
  const int low = open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
  if (low < 0) return false;
  const int high = fcntl(low, F_DUPFD_CLOEXEC, least_descriptor);
  if (high >= 0) close(low);
  file_ = high >= 0 ? high : low;
  struct stat made {};
  fstat(file_, &made);
  device_ = made.st_dev;
  inode_ = made.st_ino;
  if (write_at(0, beginning_.data(), beginning_.size())) return true;
  unlink(path_.c_str());
  close(file_);
  file_ = -1;
  errno = error_;
  return false;
}

bool PartFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  Pieces pieces;
  pieces[0] = {const_cast<void*>(data), bytes};  // which is only read
  return write_all(offset, pieces, 1);
}

bool PartFile::write_all(std::uint64_t offset, Pieces& pieces, std::size_t count) {
  ++writes_;
  const SignalBlocked no_death_by_quota(SIGXFSZ);
  if ((file_ < 0 && !create()) || !is_still_ours()) {
    error_ = file_ < 0 ? errno : EBADF;
    return false;
  }
  for (std::size_t first = 0; first < count;) {
    const ssize_t written = pwritev(file_, &pieces[first], static_cast<int>(count - first), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      error_ = written < 0 ? errno : ENOSPC;
      return false;
    }
    offset += static_cast<std::uint64_t>(written);
    std::size_t left = static_cast<std::size_t>(written);
    for (; first < count && left >= pieces[first].iov_len; ++first) left -= pieces[first].iov_len;
    if (first == count) break;
    pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + left;
    pieces[first].iov_len -= left;
  }
  return true;
}

bool PartFile::write_block(std::size_t index, const SegmentBlock& block) {
  Pieces pieces;
  std::size_t count = 0;
  visit_closed_block(block, header_.with_injection != 0, [&](std::span<const std::byte> bytes) {
    pieces[count++] = {const_cast<std::byte*>(bytes.data()), bytes.size()};  // which are only read
  });
  return write_all(header_.blocks_at + index * header_.block_stride, pieces, count);
}

bool PartFile::write_tail(std::byte* tail, std::size_t bytes) {
  TailHeader header;
  header.sequence = tails_written_ + 1;
  header.bytes = bytes - tail_header_size;
  header.checksum = checksum_of(tail + tail_header_size, header.bytes);
  Cursor out(tail);
  for_each_number_of_tail_header(header, [&out](const auto& number) { out.put(number); });
  if (!write_at(header_.tails_at + tails_written_ % 2 * most_in_tail_, tail, bytes)) return false;
  ++tails_written_;
  return true;
}

OwnedBlock PartFile::read_block(std::size_t index) const {
  OwnedBlock block = empty_block();
  if (block == nullptr) throw std::bad_alloc();
  std::uint64_t at = header_.blocks_at + index * header_.block_stride;
  bool is_whole = is_still_ours();
  visit_closed_block(*block, header_.with_injection != 0, [&](std::span<std::byte> bytes) {
    is_whole = is_whole && read_at(file_, at, bytes.data(), bytes.size());
    at += bytes.size();
  });
  if (!is_whole) throw std::runtime_error("segments that were spilled cannot be read back from " + path_);
  return block;
}

void PartFile::open_for_reading(const std::string& path, PartFile& part) {
  const auto refuse = [&path](const std::string& why) { throw std::runtime_error(path + " " + why); };
  part.path_ = path;
  part.file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (part.file_ < 0) refuse(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat state {};
  fstat(part.file_, &state);
  part.device_ = state.st_dev;
  part.inode_ = state.st_ino;
  std::vector<std::byte> beginning(part_beginning_size);
  const bool is_long_enough = read_at(part.file_, 0, beginning.data(), beginning.size());
  Unpacker in(beginning);
  // Older versions had their number, a digit, at the end of the magic.
  if (!is_long_enough || std::memcmp(beginning.data(), part_magic.data(), part_magic.size() - 1) != 0) {
    refuse("is not a part of a run that Halcyon recorded");
  }
  const bool has_this_magic = in.get<std::array<char, part_magic.size()>>() == part_magic;
  const bool has_this_version = in.get<std::uint32_t>() == part_version && has_this_magic;
  PartHeader& header = part.header_;
  for_each_number_of_header(header, [&in](auto& number) { in.get(number); });
  const auto size = static_cast<std::uint64_t>(state.st_size);
  if (!has_this_version || header.layout != layout_of_part() ||
      header.block_stride != up_to_page(block_bytes(header.with_injection != 0))) {
    refuse("was written by another version of Halcyon; recover it with that version");
  }
  constexpr std::uint32_t most_ranks = 1u << 24;
  if (header.ranks == 0 || header.ranks > most_ranks || header.rank >= header.ranks || header.facts_bytes > size ||
      header.tails_at < part_beginning_size + header.facts_bytes || header.tails_at > size ||
      header.blocks_at <= header.tails_at || header.blocks_at - header.tails_at > (std::uint64_t{1} << 30)) {
    refuse("is corrupted: its header contradicts itself");
  }
  part.most_in_tail_ = (header.blocks_at - header.tails_at) / 2;
}

std::vector<std::byte> PartFile::read_tail() const {
  std::vector<std::byte> newest;
  std::uint64_t sequence = 0;
  for (std::uint64_t place = 0; place < 2; ++place) {
    const std::uint64_t at = header_.tails_at + place * most_in_tail_;
    std::vector<std::byte> beginning(tail_header_size);
    if (!read_at(file_, at, beginning.data(), beginning.size())) continue;
    TailHeader header;
    Unpacker in(beginning);
    for_each_number_of_tail_header(header, [&in](auto& number) { in.get(number); });
    if (header.sequence <= sequence || header.bytes > most_in_tail_ - tail_header_size) continue;
    std::vector<std::byte> tail(header.bytes);
    if (!read_at(file_, at + tail_header_size, tail.data(), tail.size()) ||
        checksum_of(tail.data(), tail.size()) != header.checksum) {
      continue;
    }
    newest = std::move(tail);
    sequence = header.sequence;
  }
  return newest;
}

std::vector<std::byte> PartFile::read_facts() const {
  std::vector<std::byte> facts(header_.facts_bytes);
  if (!read_at(file_, part_beginning_size, facts.data(), facts.size())) facts.clear();
  return facts;
}

std::size_t PartFile::blocks_within() const {
  struct stat state {};
  fstat(file_, &state);
  const auto size = static_cast<std::uint64_t>(state.st_size) + page;  // the last page may not be full
  return size > header_.blocks_at ? (size - header_.blocks_at) / header_.block_stride : 0;
}

void PartFile::remove_run() {
  // DIRECTORY/RUN.RANK.part
  const std::string beginning = path_.substr(0, path_.rfind('.', path_.rfind('.') - 1) + 1);
  std::vector<std::string> parts;
  if (DIR* directory = opendir(directory_.c_str()); directory != nullptr) {
    while (const dirent* entry = readdir(directory)) {
      const std::string path = directory_ + "/" + entry->d_name;
      if (path.starts_with(beginning)) parts.push_back(path);
    }
    closedir(directory);
  }
  for (const std::string& part : parts) unlink(part.c_str());
  if (!parts.empty()) rmdir(directory_.c_str());
}

void PartFile::remove() {
  if (file_ < 0) return;
  unlink(path_.c_str());
  rmdir(directory_.c_str());  // fails while it holds another rank's part
}

}  // namespace halcyon
