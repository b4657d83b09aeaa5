// Work that changes slowly while a program runs, as in adaptive codes: it is work, not interference.
#pragma once

#include "analyzer/estimators.hpp"

namespace halcyon {

/// By what factor the undisturbed duration of each segment of a group differs from the group's mean: (segments),
/// mean 1. All ones where no drift is sure.
///
/// The lower quartiles of consecutive blocks follow the work, as delays rarely reach them. A drift is a parabola
/// through their logarithms that explains most of their variance, significantly (F test), and better than one step
/// between two levels does, which is how disturbance begins or ends.
Durations drift_of(const Durations& durations);

}  // namespace halcyon
