// Estimators: from the durations of segments that did the same work to what came from outside.
#pragma once

#include <Eigen/Core>

#include <array>
#include <string_view>
#include <vector>

namespace halcyon {

class DurationLaws;

using Durations = Eigen::ArrayXd;  // (segments of a group, in the order of time) seconds

/// Of the undisturbed law, above the baseline: a longer segment is disturbed (seed 002: over 99.5 % confidence).
inline constexpr double disturbed_beyond_spreads = 4.0;

/// What an estimator makes of one group.
struct GroupEstimate {
  double baseline = 0.0;   // s, undisturbed duration of a segment
  double threshold = 0.0;  // s, a longer segment is disturbed
  Durations excess;        // (segments of the group) s
};

struct Interval {
  double low = 0.0;
  double high = 0.0;
};
constexpr bool excludes_zero(const Interval& interval) { return interval.low > 0.0 || interval.high < 0.0; }
inline constexpr double interval_confidence = 0.90;

/// What an estimator makes of a run.
struct RunEstimate {
  std::vector<GroupEstimate> groups;
  Interval excess_seconds;    // 90 %, of the sum over all groups
  double slow_seconds = 0.0;  // of the interval's upper end: by slow changes, which are nobody's for sure
};

/// The middle value, or the mean of the two middle ones. Needs at least one value.
double median(Durations values);

/// Seed 002, section 2, "Estimating Interference": with m the median and MAD = median(|x - m|), a segment above
/// t = m + 4 MAD is disturbed, and its excess is x - t.
GroupEstimate estimate_paper(const Durations& durations);

/// The baseline b is the centre of the shortest interval that holds a quarter of the group; the left spread is
/// s = 1.4826 median(b - x | x < b); a segment above b + 4 s is disturbed, and its excess is x - b.
GroupEstimate estimate_mode(const Durations& durations);

/// The judged groups of a run.
struct JudgedDurations {
  std::vector<Durations> groups;
  std::vector<double> calls;  // (groups) MPI and file operations of a segment, over all ranks; 0 where not known
  double run_time = 0.0;      // s
  // (groups) s that calls of a segment took beyond what is usual, as recorded; empty where it was not
  std::vector<Durations> beyond_usual{};
};

/// All delays, also where they strike nearly every segment (compound.cpp, compound_poisson.hpp). The excess of a
/// segment is what it takes beyond the baseline, in proportion: added up over the group, it is the median of the
/// posterior.
RunEstimate estimate_compound(const JudgedDurations& run);

struct Method {
  std::string_view name;
  RunEstimate (*estimate)(const JudgedDurations& run);
};
/// All run every time; the first is the default.
extern const std::array<Method, 3> methods;

/// What the default method makes of the durations of one group by themselves. Groups may share their laws, which are
/// dear.
GroupEstimate estimate_group(const Durations& durations, DurationLaws& laws);

}  // namespace halcyon
