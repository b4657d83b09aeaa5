// An estimate, combined with the times of earlier runs of the same work.
#pragma once

#include <cstdint>

#include "analyzer/estimate/estimate.hpp"
#include "analyzer/estimate/judged_durations.hpp"

namespace halcyon {

/// Adds continuous excess to all groups, in proportion to their time.
void add_evenly(RunEstimate& estimate, const JudgedDurations& run, double added_seconds);

/// Adds the rise above the best known medians to an estimate. One run does not show what raises all segments evenly.
/// `rise` is the distance of the run's medians above the best of earlier runs, in s, and `rise_interval` its 90 %
/// interval. The part that the estimate has already found is subtracted. The rest is continuous excess of all groups,
/// in proportion to their time.
void add_rise(RunEstimate& estimate, const JudgedDurations& run, double rise, const Interval& rise_interval);

/// Combines an estimate with the time of the whole run above the best of `runs` earlier ones: `beyond` in s, with its
/// 90 % interval. At least this time came from outside. If the estimate or the upper end of its interval is larger, the
/// part above must also have hit the earlier runs: it counts by the probability of that, 1 / (runs + 1). If the
/// estimate's whole interval is above, one earlier run changes nothing. Several contradict the estimate, and the
/// interval then includes both.
void weigh_with_known(RunEstimate& estimate, const JudgedDurations& run, double beyond, const Interval& beyond_interval,
                      std::uint64_t runs);

}  // namespace halcyon
