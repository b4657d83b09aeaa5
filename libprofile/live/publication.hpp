// A copy of a live record for readers on other hosts: one file for each job and host, in a directory that all of them
// see. It has the bytes of the record, and two facts that only its own host knows: when it was read, and whether the
// ranks' processes exist.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/system/outcome.hpp"
#include "libprofile/live/checks.hpp"
#include "libprofile/live/layout.hpp"
#include "libprofile/live/snapshot.hpp"

namespace halcyon::live {

inline constexpr std::array<char, 8> publication_magic{'H', 'L', 'C', 'P', 'U', 'B', 'L', '\0'};
/// Goes up with each change of these structs. The record in it has its own version.
inline constexpr std::uint32_t publication_version = 1;
/// How the names of these files end. Other files in the directory are ignored.
inline constexpr std::string_view publication_suffix = ".live";

/// The beginning of the file. The Header of the record follows, then its ranks.
struct PublicationHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t published_at;          // CLOCK_REALTIME of the host, ns
  std::uint64_t read_monotonic;        // CLOCK_MONOTONIC of the host when the record was read, ns
  std::array<char, most_text> record;  // name of the record, the same on all hosts of the job
};
static_assert(sizeof(PublicationHeader) == 96);

/// Precedes each rank: a Slot up to its kinds, and those of its kinds that are in use.
struct PublishedRank {
  std::uint32_t is_alive;
  std::uint32_t is_stopped;
  std::uint32_t kinds;
  std::uint32_t reserved;
};
static_assert(sizeof(PublishedRank) == 16);

/// A job as it was read, also as the bytes of the file.
class Publication {
 public:
  explicit Publication(std::string record) : record_(std::move(record)) {}

  JobNow job;

  void begin(const Header& header, const HostNow& host);
  void add(const Slot& slot, const Presence& presence);

  /// Replaces the file of this job and host, in one step. It is readable by this user alone.
  Status write_to(const std::string& directory) const;

 private:
  void append(const void* data, std::size_t bytes) { bytes_.append(static_cast<const char*>(data), bytes); }

  std::string record_;
  std::string bytes_;
};

struct PublishedJob {
  JobNow job;  // its `file` is the path of the file that was read
  std::string record;
  std::uint64_t published_at = 0;  // CLOCK_REALTIME of the host, ns
};

/// Names of the files in the directory, in their order.
Outcome<std::vector<std::string>> find_publications(const std::string& directory);

/// Fails if the file contradicts itself, is no such file, or may have been written by others.
Outcome<PublishedJob> read_publication(const std::string& directory, const std::string& name);

}  // namespace halcyon::live
