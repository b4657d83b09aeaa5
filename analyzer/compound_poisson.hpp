// What a group's durations say of the time that delays added to them, all of it: also where no segment was spared.
#pragma once

#include <vector>

#include "analyzer/duration_law.hpp"
#include "analyzer/estimators.hpp"

namespace halcyon {

/// A value with its posterior probability.
struct WeightedValue {
  double value;
  double weight;
};

struct GroupPosterior {
  std::vector<WeightedValue> added;  // s a segment, mean over the group; ascending, weights sum to 1
  double jitter_seconds = 0.0;       // standard deviation of the undisturbed durations, at the most likely law
  DurationShape shape;               // the most likely one

  double quantile(double probability) const;
};

/// The posterior of the time that delays added to the segments of one group.
///
/// A duration is b (1 + e) + D_1 + ... + D_N: jitter e of mean 0, N Poisson distributed delays (none in segments that
/// were not exposed). The total needs only b: the mean of the delays is the mean duration less b, however heavy
/// their tail. So the law is fitted to the left and middle of the durations, and what lies beyond counts as "longer".
/// For each shape of the law on a lattice (duration_law.hpp), b and the jitter's scale are fitted to the counts
/// between order statistics and integrated over by Laplace's method; the shapes' weights are their posterior
/// probabilities. The likelihood is tempered, so that no number of segments makes a law that is only
/// nearly right look certain (Miller and Dunson, "Robust Bayesian inference via coarsening", JASA 114, 2019).
GroupPosterior added_time(const Durations& durations, DurationLaws& laws);

}  // namespace halcyon
