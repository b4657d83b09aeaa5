// Work that comes again every so many segments, and that nothing counts.
#pragma once

#include <optional>

#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// The factor by which the undisturbed duration of each segment of a group differs from the group's mean by its place in
/// a sequence that repeats: (segments), mean 1. Nothing if the durations do not repeat exactly.
///
/// What comes from outside has periods in time, and does not know where segments begin. The period is the one at which
/// durations agree most with those whole periods away, and less with those one segment beside: sums of their
/// autocovariance (epoch folding; D. A. Leahy et al., Astrophys. J. 266, 1983). Each place has the lower quartile of its
/// durations as its level, and is moved to the mean level by the share of their variance that is chance (W. James,
/// C. Stein, Estimation with quadratic loss, 1961).
/// `durations`: in the order of time.
std::optional<Durations> recurring_factors(const Durations& durations);

}  // namespace halcyon
