// Two runs side by side: whether they did the same work, and which of them was more disturbed.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/compare/difference.hpp"
#include "analyzer/compare/displacement.hpp"
#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// One of two runs, against the other.
struct ComparedRun {
  Analysis analysis;             // by the default method
  double shared_percent = 0.0;   // of its segments, one for one, whose counts and call site the other run has too
  double matched_percent = 0.0;  // of its run time, in matched groups
  /// How far its baselines are above the other run's: sum over the judged pairs of n (baseline - baseline of the other
  /// run), by the default method. Negative: the other run was slower.
  double baseline_rise_seconds = 0.0;

  /// The time of segments beyond their baselines, and of the baselines beyond the other run's.
  double disturbed_seconds() const {
    return analysis.result().excess_seconds + (baseline_rise_seconds > 0.0 ? baseline_rise_seconds : 0.0);
  }
  double disturbed_percent() const {
    return analysis.run_time_seconds > 0.0 ? 100.0 * disturbed_seconds() / analysis.run_time_seconds : 0.0;
  }
};

struct Comparison {
  ComparedRun a;
  ComparedRun b;
  std::optional<Difference> difference;      // set: the runs did different work, and nothing below is known
  std::vector<MatchedGroup> groups;          // judged pairs, the most displaced first
  double displacement_seconds = 0.0;         // median_displacement_seconds of a against b
  Interval displacement_interval_seconds;    // 90 %
  double more_disturbed_seconds = 0.0;       // disturbed seconds of a beyond those of b
  Interval more_disturbed_interval_seconds;  // 90 %, from the sampling of the excess and the errors of the medians

  /// `a` or `b`; null if the difference may be random, or a run's own verdict is unknown.
  const ComparedRun* more_disturbed() const;
};

/// Judges both runs by the default method. Two runs did the same work if they had the same number of ranks and measured
/// work in the same way, if nine tenths of the segments of either run have a partner with the same signature in the
/// other, and if half of the run time of either is in matched groups.
Comparison compare(const JudgedRun& a, const JudgedRun& b);
Comparison compare(const Profile& a, const Profile& b);

}  // namespace halcyon
