// What an estimator makes of a run and of its groups.
#pragma once

#include <vector>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// A segment that is longer than the baseline by more than so many standard deviations of the undisturbed law is
/// disturbed (the paper: over 99.5 % confidence).
inline constexpr double disturbed_beyond_spreads = 4.0;

/// What an estimator makes of one group.
struct GroupEstimate {
  double baseline = 0.0;   // s, undisturbed duration of a segment
  double threshold = 0.0;  // s, a longer segment is disturbed
  double excess_seconds = 0.0;
  double continuous_seconds = 0.0;  // part of the excess: strikes nearly all segments
  double speed_seconds = 0.0;       // part of the excess: the machine computed more slowly
};

/// What moves the median strikes nearly every segment (the paper, section 2, "Separating Instantaneous Interference
/// from Continuous Interference").
double continuous_of(double segments, double median, double baseline, double excess_seconds);

/// What an estimator makes of a run.
struct RunEstimate {
  std::vector<GroupEstimate> groups;
  std::vector<float> excess;  // (segments, in the order of the judged durations) s; empty unless it was asked for
  Interval excess_seconds;    // 90 %, of the sum over all groups
  double slow_seconds = 0.0;  // part of the interval's upper end: slow changes, of the machine or of the program
};

/// What is asked of an estimator. The excess of each segment takes as much memory as the durations.
enum class Detail { groups, segments };

}  // namespace halcyon
