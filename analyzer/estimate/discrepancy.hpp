// The uncertainty that a model's own interval leaves out: the model itself is only nearly right.
#pragma once

#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// Widens a 90 % interval of a run's excess, s, by the discrepancy between model and truth. On the scale l = -ln(1 - x)
/// of the share x of the run time, on which 2 points and 50 points are widened alike, each end moves by
///
///     0.001 + 0.02 l + 0.35 d
///
/// with l of the estimate and d the distance of that end from it. Reports show nothing finer than the first term. The
/// others come from runs whose truth is known (docs/method.md says which): 90 % of their intervals contain it. This is
/// split conformal prediction (J. Lei et al., "Distribution-free predictive inference for regression", JASA 113, 2018).
Interval with_discrepancy(const Interval& excess_seconds, double estimate_seconds, double run_time);

}  // namespace halcyon
