// What changes slowly while a program runs: work, as in adaptive codes, and the speed of the machine.
#pragma once

#include <optional>

#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// By what factor the undisturbed duration of each segment of a group differs from the group's mean: (segments),
/// mean 1. Nothing where no drift is sure.
///
/// The lower quartiles of consecutive blocks follow the work, as delays rarely reach them. A drift is a parabola
/// through their logarithms that explains most of their variance, significantly (F test), and better than one step
/// between two levels does, which is how disturbance begins or ends.
std::optional<Durations> drift_of(const Durations& durations);

/// By how many seconds the level of durations is above the run's lowest, where each segment was: (segments). Nothing
/// where no change is sure.
///
/// Levels are the lower quartiles of consecutive blocks, the lowest one is their tenth. They change if they vary by
/// more than they must (chi-squared test), and slowly: the squared steps from block to block are small against the
/// squared deviations from the mean (J. von Neumann, "Distribution of the ratio of the mean square successive
/// difference to the variance", Ann. Math. Statist. 12, 1941). Disturbance raises levels, too, but many delays let
/// durations vary the more, and what begins once and stays is one step: such levels are left as they are.
std::optional<Durations> raised_levels_of(const Durations& durations);

/// The slowness of the machine where each of a run's segments was: (segments), 1 at the lowest level. Nothing where no
/// change is sure. `relative`: (segments, in the order of time) durations in units of what is usual of such a segment.
/// As `raised_levels_of`, but in more blocks, between whose middles it is linear.
std::optional<Durations> slowness_of(const Durations& relative);

/// How far the factors of a group's work (work_model.hpp) are above their lowest, on average over the run, in units of
/// the lowest; 0 where they do not change slowly. Counted in CPU time, this may be more work or a slower machine.
double slow_rise_of(const Durations& factors);

}  // namespace halcyon
