// The ranks of a run compared with each other: which took longer than its peers for the same work, which had more work,
// and how much shorter each segment would have been without that. At the end of the run, from what the ranks recorded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/format/profile.hpp"
#include "libprofile/merge/exchange.hpp"
#include "libprofile/merge/names.hpp"
#include "libprofile/merge/row.hpp"

namespace halcyon {

inline constexpr std::size_t eighths = RankSections::eighths;

/// What one rank did in the segments of one section.
struct SectionSum {
  std::uint64_t segments = 0;
  double computing = 0.0;  // s
  double work = 0.0;       // of the compute feature, in the profile's units
  double waiting = 0.0;    // s
  double file_io = 0.0;    // s
  double device = 0.0;     // s
};

/// The sections of a run: of the places that took most time, which are compared for themselves, and of all others
/// together. An eighth has the same segments on all ranks.
struct Sections {
  std::vector<std::string> places;  // call sites; empty for all others
  std::uint64_t segments = 0;       // of the run

  std::size_t count() const { return places.size() * eighths; }
  std::size_t place_of(const std::string& site) const;
  std::size_t eighth_of(std::uint64_t segment) const { return segment * eighths / segments; }
};

/// A rank's sums by its own call sites, from one pass over its segments.
struct SiteSums {
  std::vector<std::string> sites;
  std::vector<std::array<SectionSum, eighths>> sums;  // (sites)
};
SiteSums sums_by_site(const RankRecords& rank, std::uint64_t segments);

/// For each rank and place, how it could have been faster (format/beside_peers.hpp). 0 unless it was behind its peers
/// in each eighth that has segments there, which must be four or more: by chance, one rank in 256 is behind in all
/// eight.
struct BehindPeers {
  std::vector<float> pace;       // (ranks x places) of the peers, s for a unit of work
  std::vector<float> more_work;  // (ranks x places) share of its computing time, had it had their work
};

/// What all ranks know when they merge their segments; nothing if there is but one.
struct Peers {
  Sections sections;
  BehindPeers behind;
};

/// What a rank could have saved in a segment, in s.
struct Avoidable {
  float cpu_wait = 0.0F;
  float slower = 0.0F;
  float more_work = 0.0F;
};

/// The same for the segments of one process' ranks. `sites`: program-wide.
class AvoidableTimes {
 public:
  AvoidableTimes(const Peers& peers, const std::vector<std::string>& sites);
  bool has_peers() const { return !place_of_site_.empty(); }
  /// `rank`: its index among those that are merged. `site`: its program-wide number. `work`: in the segment.
  Avoidable of(std::size_t rank, std::uint16_t site, double work, const RowMeasures& times) const;

 private:
  std::size_t places_;
  BehindPeers behind_;
  std::vector<std::uint8_t> place_of_site_;
};

/// Collective. The root gets the `columns` of the profile.
Peers compare_ranks(const Exchange& exchange, const RankRecords& own, std::uint64_t segments, RankSections& columns);
/// The same where one process has the sums of all ranks.
Peers compare_ranks(const std::vector<SiteSums>& ranks, std::uint64_t segments, RankSections& columns);

}  // namespace halcyon
