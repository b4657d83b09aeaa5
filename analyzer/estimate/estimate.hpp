// The results of an estimator for a run and for its groups.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analyzer/estimate/judged_durations.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// A segment is disturbed if it is longer than the baseline by more than this number of standard deviations of the
/// undisturbed law (the paper: over 99.5 % confidence).
inline constexpr double disturbed_beyond_spreads = 4.0;

/// The result of an estimator for one group.
struct GroupEstimate {
  double baseline = 0.0;   // s, undisturbed duration of a segment
  double threshold = 0.0;  // s, a longer segment is disturbed
  double excess_seconds = 0.0;
  double continuous_seconds = 0.0;  // part of the excess: strikes nearly all segments
  double speed_seconds = 0.0;       // part of the excess: the machine computed more slowly
  double slow_ranks_seconds = 0.0;  // part of the excess: ranks were slower than their peers all the time
};

/// If the median moves, interference strikes nearly every segment (the paper, section 2, "Separating Instantaneous
/// Interference from Continuous Interference").
double continuous_of(double segments, double median, double baseline, double excess_seconds);

/// The group has lost so many seconds more, which strike all its segments alike: to ranks slower than their peers, or
/// for another reason.
void add_slow_ranks(GroupEstimate& group, std::size_t segments, double seconds);
void add_continuous(GroupEstimate& group, std::size_t segments, double seconds);

/// The result of an estimator for a run.
struct RunEstimate {
  std::vector<GroupEstimate> groups;
  std::vector<float> excess;  // (segments, in the order of the judged durations) s; empty unless it was requested
  Interval excess_seconds;    // 90 %, of the sum over all groups

  /// s, of all groups.
  double excess_of_groups() const;
};

/// (segments of the group) s; empty where it was not requested. `run`: what was estimated.
std::span<float> excess_of_group(RunEstimate& estimate, const JudgedDurations& run, std::size_t group);

/// How much an estimator computes. The excess of each segment takes as much memory as the durations.
enum class Detail { groups, segments };

}  // namespace halcyon
