// Estimators: from the durations of segments that did the same work to what came from outside.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/groups/speeds.hpp"
#include "analyzer/statistics/interval.hpp"
#include "analyzer/statistics/median.hpp"

namespace halcyon {

class DurationLaws;

using Recorded = std::span<const float>;  // (segments of a group, in the order of time) s, as they are in the profile

/// Of the undisturbed law, above the baseline: a longer segment is disturbed (the paper: over 99.5 % confidence).
inline constexpr double disturbed_beyond_spreads = 4.0;

/// What an estimator makes of one group.
struct GroupEstimate {
  double baseline = 0.0;   // s, undisturbed duration of a segment
  double threshold = 0.0;  // s, a longer segment is disturbed
  double excess_seconds = 0.0;
  double continuous_seconds = 0.0;  // of the excess: strikes nearly all segments
  double speed_seconds = 0.0;       // of the excess: the machine computed more slowly
};

/// What moves the median strikes nearly every segment (the paper, section 2, "Separating Instantaneous Interference
/// from Continuous Interference").
double continuous_of(double segments, double median, double baseline, double excess_seconds);

/// What an estimator makes of a run.
struct RunEstimate {
  std::vector<GroupEstimate> groups;
  std::vector<float> excess;  // (segments, in the order of the judged durations) s; empty unless it was asked for
  Interval excess_seconds;    // 90 %, of the sum over all groups
  double slow_seconds = 0.0;  // of the interval's upper end: by slow changes, which are nobody's for sure
};

/// Where the excess of a segment begins, and from where it is counted.
struct Baseline {
  double baseline = 0.0;      // s
  double threshold = 0.0;     // s
  double counted_from = 0.0;  // s, of what is above the threshold

  double excess_of(double duration) const { return duration > threshold ? duration - counted_from : 0.0; }
};

/// The paper, section 2, "Estimating Interference": with m the median and MAD = median(|x - m|), a segment above
/// t = m + 4 MAD is disturbed, and its excess is x - t.
Baseline baseline_paper(Recorded ascending);

/// The baseline b is the centre of the shortest interval that holds a quarter of the group; the left spread is
/// s = 1.4826 median(b - x | x < b); a segment above b + 4 s is disturbed, and its excess is x - b.
Baseline baseline_mode(Recorded ascending);

/// The judged groups of a run, one after the other.
struct JudgedDurations {
  std::vector<float> durations;       // (segments) s, each group in the order of time
  std::vector<float> ascending;       // (segments) s, the same, each group by itself in ascending order
  std::vector<float> beyond_usual;    // (segments) s that calls took beyond what is usual; empty where not recorded
  std::vector<float> work;            // (segments) the compute feature; empty where none was counted
  std::vector<std::size_t> begin{0};  // (groups + 1) where the segments of each begin
  std::vector<double> calls;    // (groups) MPI and file operations of a segment, over all ranks; 0 where not known
  std::vector<float> slowness;  // (segments) of the machine, 1 at full speed; empty where it had one speed
  SpeedPattern speed_pattern = SpeedPattern::switches;
  double perhaps_slow_seconds = 0.0;  // that a slower machine may have cost beside, or other work
  double run_time = 0.0;              // s
  // Whether the work was counted in CPU time, which varies with durations themselves, not by a hardware counter.
  bool work_is_time = false;
  bool is_on_several_hosts = false;

  std::size_t groups() const { return calls.size(); }
  std::size_t size(std::size_t group) const { return begin[group + 1] - begin[group]; }
  Recorded of(const std::vector<float>& column, std::size_t group) const {
    return Recorded(column).subspan(begin[group], size(group));
  }
};

/// What was recorded of a group. `beyond_usual` and `work` are empty where they were not, of no group then.
struct RecordedGroup {
  Recorded durations;
  Recorded beyond_usual;
  Recorded work;
  double calls = 0.0;
};
void add_group(JudgedDurations& run, const RecordedGroup& group);

/// What is asked of an estimator; the excess of each segment takes as much memory as the durations.
enum class Detail { groups, segments };

/// All delays, also where they strike nearly every segment (compound.cpp, compound_poisson.hpp). The excess of a
/// segment is what it takes beyond the baseline, in proportion: added up over the group, it is the median of the
/// posterior.
RunEstimate estimate_compound(const JudgedDurations& run, Detail detail);

/// What raises all segments evenly leaves no trace in one run; where earlier runs of the same work are known, it is
/// what the medians lie above the best of theirs, `rise` in s, less what of that the estimate has found already. It is
/// continuous excess of all groups, in proportion to their time. `rise_interval`: 90 %, of the rise.
void add_rise(RunEstimate& estimate, const JudgedDurations& run, double rise, const Interval& rise_interval);

/// The same where the time of the whole run above the best of `runs` earlier ones is known: what came from outside is
/// at least that, `beyond` in s with its 90 % interval. What the estimate, or the upper end of its interval, has above
/// it would have to have struck those runs, too: for each of them it counts half, but not less than a quarter, since
/// what disturbs a machine all the time disturbs all runs. Where the estimate's whole interval lies above, one earlier
/// run changes nothing; more of them contradict it, and the interval holds both.
void weigh_with_known(RunEstimate& estimate, const JudgedDurations& run, double beyond, const Interval& beyond_interval,
                      std::uint64_t runs);

struct Method {
  std::string_view name;
  RunEstimate (*estimate)(const JudgedDurations& run, Detail detail);
};
/// All run every time; the first is the default.
extern const std::array<Method, 3> methods;

/// What the default method makes of the durations of one group by themselves. Groups may share their laws, which are
/// dear.
GroupEstimate estimate_group(Recorded durations, DurationLaws& laws);

}  // namespace halcyon
