// Two runs side by side: which groups did the same work, and how far the disturbance of one run displaced their
// medians.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "analyzer/groups/group_match.hpp"
#include "analyzer/groups/grouping.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The pairs of two runs (group_match.hpp).
std::vector<GroupPair> match_groups(const Profile& a, const Grouping& groups_a, const Profile& b,
                                    const Grouping& groups_b);

/// Whether a pair is large enough on both sides to be judged.
bool is_judged(const GroupPair& pair, const Grouping& groups_a, const Grouping& groups_b);

/// What continuous interference cost run a against run b, in seconds (the paper, section 3: "the amount of time the
/// medians are displaced"): sum over the judged pairs of n_a (median_a - median_b). Negative if b was slower.
double median_displacement_seconds(const Profile& a, const Grouping& groups_a, const Profile& b,
                                   const Grouping& groups_b, const std::vector<GroupPair>& pairs);

/// Two judged groups that did the same work.
struct MatchedGroup {
  struct Side {
    std::size_t segments = 0;
    double median = 0.0;    // s
    double baseline = 0.0;  // s, by the default method
  };
  std::string site;  // of the boundary that ends its segments
  Side a;
  Side b;
  double displacement_seconds = 0.0;       // n_a (median_a - median_b)
  Interval displacement_interval_seconds;  // 90 %, segments taken as independent
};

/// One of two runs, against the other.
struct ComparedRun {
  Analysis analysis;             // by the default method
  double shared_percent = 0.0;   // of its segments, one for one, whose counts and call site the other run has too
  double matched_percent = 0.0;  // of its run time, in matched groups
  /// What its baselines are above the other run's: sum over the judged pairs of n (baseline - baseline of the other
  /// run), by the default method. Negative: the other run was slower.
  double baseline_rise_seconds = 0.0;

  /// What some segments took beyond their baselines, and the baselines beyond the other run's.
  double disturbed_seconds() const {
    return analysis.result().excess_seconds + (baseline_rise_seconds > 0.0 ? baseline_rise_seconds : 0.0);
  }
  double disturbed_percent() const {
    return analysis.run_time_seconds > 0.0 ? 100.0 * disturbed_seconds() / analysis.run_time_seconds : 0.0;
  }
};

/// In what the runs differ, for which they are not the same work, and how it is in either.
struct Difference {
  std::string code;  // stable, in kebab-case
  std::string what;
  std::string in_a;
  std::string in_b;
};

struct Comparison {
  ComparedRun a;
  ComparedRun b;
  std::optional<Difference> difference;      // set: the runs did other work, and nothing below is known
  std::vector<MatchedGroup> groups;          // judged pairs, the most displaced first
  double displacement_seconds = 0.0;         // median_displacement_seconds of a against b
  Interval displacement_interval_seconds;    // 90 %
  double more_disturbed_seconds = 0.0;       // disturbed seconds of a beyond those of b
  Interval more_disturbed_interval_seconds;  // 90 %, by the excess's sampling and the medians' errors

  /// `a` or `b`; null where chance alone may have made the difference, or a run's own verdict is unknown.
  const ComparedRun* more_disturbed() const;
};

/// What each of two runs, or of several, is compared by.
struct AnalyzedRun {
  const Profile& profile;
  Grouping grouping;
  Analysis analysis;  // by the default method
};
AnalyzedRun analyze_run(const Profile& profile);

/// Two runs are the same work if they had as many ranks, measured work alike, nine tenths of the segments of either
/// have one of the same signature in the other, and half the run time of either lies in matched groups.
Comparison compare(const AnalyzedRun& a, const AnalyzedRun& b);
Comparison compare(const Profile& a, const Profile& b);

}  // namespace halcyon
