// The baseline within a group: how the undisturbed duration follows the amount of work that was counted.
#pragma once

#include <optional>

#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// By what factor the undisturbed duration of each segment of a group differs from the group's mean: (segments), mean
/// 1. Nothing where durations do not follow the work for sure.
///
/// A cluster is a chain of small gaps, so that the work in one group may differ by a factor. The lower quartiles of
/// the durations in bins of the work follow it, as delays rarely reach them. The model is a parabola through their
/// logarithms over the logarithm of the work; it counts where it explains half of their variance and the F test says
/// that this is no chance.
std::optional<Durations> work_factors(const Durations& durations, const Durations& work);

}  // namespace halcyon
