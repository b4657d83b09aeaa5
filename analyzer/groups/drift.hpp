// Slow changes while a program runs: of its work, as in adaptive codes, and of the machine's speed.
#pragma once

#include <optional>

#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// The factor by which the undisturbed duration of each segment of a group differs from the group's mean: (segments),
/// mean 1. Nothing if no drift is certain.
///
/// The lower quartiles of consecutive blocks follow the work, as delays rarely reach them. A drift is a parabola
/// through their logarithms. It must explain most of their variance, be significant (F test), and fit better than one
/// step between two levels: disturbance begins or ends with a step.
std::optional<Durations> drift_of(const Durations& durations);

/// How many seconds the level of durations around each segment is above the run's lowest level: (segments). Nothing if
/// no change is certain.
///
/// Levels are the lower quartiles of consecutive blocks. The lowest level is their lowest tenth. Levels change if they
/// vary by more than their sampling error (chi-squared test), and slowly: the squared steps from block to block are
/// small against the squared deviations from the mean (J. von Neumann, "Distribution of the ratio of the mean square
/// successive difference to the variance", Ann. Math. Statist. 12, 1941). Disturbance also raises levels. But many
/// delays also make durations vary more, and disturbance that begins once and stays is one step. Such levels are left
/// unchanged.
std::optional<Durations> raised_levels_of(const Durations& durations);

/// The slowness of the machine around each segment of a run: (segments), 1 at the lowest level. Nothing if no change is
/// certain. `relative`: (segments, in the order of time) durations in units of the usual duration of such a segment. It
/// is found as `raised_levels_of`, but with more blocks, and is linear between their middles.
std::optional<Durations> slowness_of(const Durations& relative);

/// How far the factors of a group's work (work_model.hpp) are above their lowest level, on average over the run, in
/// units of that level. 0 if they do not change slowly. For CPU time, this may be more work or a slower machine.
double slow_rise_of(const Durations& factors);

}  // namespace halcyon
