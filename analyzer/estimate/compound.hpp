// The method `compound`: the time of calls beyond the usual, and laws fitted to the rest of the durations. It finds
// delays even if they strike nearly every segment.
#pragma once

#include "analyzer/estimate/duration_law.hpp"
#include "analyzer/estimate/estimate.hpp"
#include "analyzer/estimate/judged_durations.hpp"

namespace halcyon {

/// The excess of a segment is its time beyond the baseline, scaled so that the excess of the group is the median of its
/// posterior.
RunEstimate estimate_compound(const JudgedDurations& run, Detail detail);
/// The same with laws that are kept for the next estimate, since they are costly to make.
RunEstimate estimate_compound(const JudgedDurations& run, Detail detail, DurationLaws& laws);

/// The same for the durations of a single group.
GroupEstimate estimate_group(Recorded durations, DurationLaws& laws);

}  // namespace halcyon
