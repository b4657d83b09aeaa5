// How much of a running program's time has come from outside so far, from histograms of the durations of its segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/estimate/duration_law.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// Numbers of segments by duration.
struct DurationHistogram {
  std::vector<double> edges;          // (bins + 1) s, ascending, above 0
  std::vector<std::uint64_t> counts;  // (bins)
  std::uint64_t below = 0;            // shorter than all bins
  double below_seconds = 0.0;         // of all of these together
  std::uint64_t above = 0;            // longer than all bins
  double above_seconds = 0.0;

  std::uint64_t segments() const;
};

/// Segments of one rank that should take the same time.
struct KindOfSegments {
  double seconds = 0.0;  // of all of them
  DurationHistogram durations;
};

struct KindSoFar {
  bool is_judged = false;
  double baseline = 0.0;        // s, undisturbed duration of a segment
  double excess_seconds = 0.0;  // of all its segments
};

struct InterferenceSoFar {
  double percent = 0.0;
  Interval interval_percent;      // 90 %
  double coverage_percent = 0.0;  // of the recorded time in judged kinds
  std::vector<KindSoFar> kinds;   // (kinds)
};

/// Of one rank, by the method `compound`, as in the report of the whole run: its laws are fitted to the durations,
/// spread evenly within their bins. The interval is wider by half of a bin on each side, since no baseline is known
/// better. With few segments it is wide anyway. Kinds that are not judged are assumed to be disturbed by the same
/// share. `recorded_seconds`: of all segments, also those of kinds without a histogram. None if no kind is judged.
std::optional<InterferenceSoFar> interference_so_far(std::span<const KindOfSegments> kinds, double recorded_seconds,
                                                     DurationLaws& laws);

}  // namespace halcyon
