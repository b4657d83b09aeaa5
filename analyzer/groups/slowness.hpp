// Slow changes while a program runs, of the machine or of the work.
#pragma once

#include <optional>

#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// The slowness of the machine around each segment of a run: (segments), 1 at the lowest level. Nothing if no change is
/// certain. `relative`: (segments, in the order of time) durations in units of the usual duration of such a segment.
///
/// Levels are the lower quartiles of consecutive blocks, as delays rarely reach them; slowness is linear between their
/// middles. Levels change if they vary by more than their sampling error (chi-squared test), and slowly: the squared
/// steps from block to block are small against the squared deviations from the mean (J. von Neumann, "Distribution of
/// the ratio of the mean square successive difference to the variance", Ann. Math. Statist. 12, 1941). Disturbance also
/// raises levels. But many delays also make durations vary more, and disturbance that begins once and stays is one
/// step.
std::optional<Durations> slowness_of(const Durations& relative);

/// How far the factors of a group's work (work_model.hpp) are above their lowest level, on average over the run, in
/// units of their mean. 0 if they do not change slowly. For CPU time, this may be more work or a slower machine.
double slow_rise_of(const Durations& factors);

}  // namespace halcyon
