// An estimate beside what earlier runs of the same work took.
#pragma once

#include <cstdint>

#include "analyzer/estimate/estimate.hpp"
#include "analyzer/estimate/judged_durations.hpp"

namespace halcyon {

/// Adds what lies above the best known medians to an estimate. What raises all segments evenly leaves no trace in one
/// run. `rise` is what the run's medians lie above the best of earlier runs, in s, and `rise_interval` its 90 %
/// interval. What the estimate has found already is subtracted. The rest is continuous excess of all groups, in
/// proportion to their time.
void add_rise(RunEstimate& estimate, const JudgedDurations& run, double rise, const Interval& rise_interval);

/// Weighs an estimate with the time that the whole run took above the best of `runs` earlier ones: `beyond` in s, with
/// its 90 % interval. At least that came from outside. If the estimate is larger, or the upper end of its interval, the
/// excess must also have hit the earlier runs: each of them halves it. It never counts less than a quarter, since a
/// disturbance that lasts all the time hits all runs. If the estimate's whole interval lies above, one earlier run
/// changes nothing. Several contradict the estimate, and the interval then holds both.
void weigh_with_known(RunEstimate& estimate, const JudgedDurations& run, double beyond, const Interval& beyond_interval,
                      std::uint64_t runs);

}  // namespace halcyon
