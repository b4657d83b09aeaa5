// The method `compound`: what calls took beyond the usual, and laws fitted to the rest of what segments took. It finds
// delays also where they strike nearly every segment.
#pragma once

#include "analyzer/estimate/duration_law.hpp"
#include "analyzer/estimate/estimate.hpp"
#include "analyzer/estimate/judged_durations.hpp"

namespace halcyon {

/// The excess of a segment is what it takes beyond the baseline, scaled so that the excess of the group is the median
/// of its posterior.
RunEstimate estimate_compound(const JudgedDurations& run, Detail detail);
/// The same with laws that are kept for the next estimate, since they are costly to make.
RunEstimate estimate_compound(const JudgedDurations& run, Detail detail, DurationLaws& laws);

/// The same for the durations of one group by themselves.
GroupEstimate estimate_group(Recorded durations, DurationLaws& laws);

}  // namespace halcyon
