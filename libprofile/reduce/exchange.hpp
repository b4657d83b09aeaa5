// Dividing the segments among the ranks: each rank sees all ranks' rows of its share, a bounded piece at a time, and
// keeps one row a segment. No rank ever holds ranks × segments.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/reduce/program_bins.hpp"

namespace halcyon {

/// One column of the profile, as far as this rank owns it.
struct OwnedFeature {
  std::vector<double> bins;          // program-wide
  std::vector<std::uint16_t> index;  // (own segments), or empty where there is one bin
  bool reduced = false;
};

/// This rank's share of the segments, merged over all ranks; columns as in format/profile.hpp.
struct OwnedSegments {
  std::vector<float> duration;
  std::vector<float> boundary_wait;
  std::vector<float> calls_beyond_usual;
  std::vector<std::uint32_t> last_rank;
  std::array<std::vector<float>, time_kind_count> last_rank_times;
  std::vector<float> last_rank_off_cpu;
  std::vector<float> injected_requested;
  std::vector<float> injected_actual;
  std::vector<float> injected_critical;
  std::array<OwnedFeature, feature_count> features;
  std::vector<std::string> sites;
  std::vector<std::uint16_t> site;
};

/// The segments that `rank` owns of `segments`: [first_owned(rank), first_owned(rank + 1)).
inline std::size_t first_owned(std::size_t segments, int ranks, int rank) {
  return segments / static_cast<std::size_t>(ranks) * static_cast<std::size_t>(rank) +
         std::min(segments % static_cast<std::size_t>(ranks), static_cast<std::size_t>(rank));
}

/// Collective. The store must be settled, and all ranks must have equally many segments, at least one.
OwnedSegments exchange_segments(const World& world, const Recorder& run, double nanoseconds_per_tick,
                                bool with_compute);

}  // namespace halcyon
