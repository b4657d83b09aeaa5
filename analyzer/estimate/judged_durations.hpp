// The input of estimators for a run: the durations of its judged groups, and the other records of their segments.
#pragma once

#include <cstddef>
#include <ratio>
#include <span>
#include <vector>

#include "analyzer/groups/speeds.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// s for one of what is counted as work where that is CPU time: it is in ns.
inline constexpr double seconds_of_cpu_time = 1.0 / std::nano::den;

using Recorded = std::span<const float>;  // (segments of a group, in the order of time) s, as they are in the profile

/// The judged groups of a run, one after the other.
struct JudgedDurations {
  std::vector<float> durations;       // (segments) s, each group in the order of time
  std::vector<float> ascending;       // (segments) s, the same, each group sorted by itself
  std::vector<float> beyond_usual;    // (segments) s of calls beyond the usual; empty if not recorded
  std::vector<float> surely_lost;     // (segments) s that others took for sure; empty if nothing is known of them
  std::vector<float> slow_ranks;      // (segments) s that slower ranks cost; empty if there were none
  Interval slow_ranks_interval;       // 90 %, of the sum of that, relative to it
  std::vector<float> work;            // (segments) the compute feature; empty if none was counted
  std::vector<std::size_t> begin{0};  // (groups + 1) where the segments of each begin
  std::vector<float> largest_work;    // (segments) the same of the rank that has most; empty if not recorded
  std::vector<float> expected;        // (segments) what each should take, relative to the mean; empty if not known
  std::vector<bool> is_joined;        // (groups) whether it has segments that are not alike
  std::vector<double> calls;          // (groups) MPI and file operations of a segment, over all ranks; 0: not known
  std::vector<float> slowness;        // (segments) of the machine, 1 at full speed; empty if it had one speed
  std::vector<float> perhaps_slow;    // (segments) s that a slower machine may have cost, or more work; or empty
  SpeedPattern speed_pattern = SpeedPattern::switches;
  double run_time = 0.0;  // s
  // CPU time depends on the durations themselves, a hardware counter does not.
  bool work_is_time = false;
  bool is_on_several_hosts = false;
  // If not, a machine that was slower for a while looks like another kind of work.
  bool is_in_order = true;

  std::size_t groups() const { return calls.size(); }
  std::size_t size(std::size_t group) const { return begin[group + 1] - begin[group]; }
  Recorded of(const std::vector<float>& column, std::size_t group) const {
    return Recorded(column).subspan(begin[group], size(group));
  }
  /// (groups) s of all their segments.
  std::vector<double> seconds_of_groups() const;
};

/// The records of a group. `beyond_usual`, `surely_lost`, `slow_ranks`, `work`, `largest_work` and `expected` are
/// empty for all groups, or for none.
struct RecordedGroup {
  Recorded durations;
  Recorded beyond_usual;
  Recorded surely_lost;
  Recorded slow_ranks;
  Recorded work;
  Recorded largest_work;
  Recorded expected;
  bool is_joined = false;
  double calls = 0.0;
};
void add_group(JudgedDurations& run, const RecordedGroup& group);

}  // namespace halcyon
