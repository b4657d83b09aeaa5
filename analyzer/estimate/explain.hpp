// The laws that may have made a group's durations, and how probable each of them is.
#pragma once

#include <vector>

#include "analyzer/estimate/cells.hpp"
#include "analyzer/estimate/duration_law.hpp"

namespace halcyon {

/// One law that may have made a group's durations, with what fits it best.
struct Explanation {
  DurationShape shape;
  double baseline = 0.0;   // s
  double scale = 0.0;      // s, standard deviation of the jitter
  double deviation = 0.0;  // s, standard deviation of the time added to a segment, on average, if this is the law
  double evidence = 0.0;   // log of the posterior probability, up to a constant of the group
};

/// Whether a law says that something came from outside. Without delays of its own and without spikes none does.
bool adds_time(const DurationShape& shape);

/// The laws that may have made a group's durations. Laws so improbable that other groups cannot change it are left out.
///
/// A duration is b (1 + e) + D_1 + ... + D_N: jitter e of mean 0, and N Poisson distributed delays (none in segments
/// that were not exposed). The total needs only b: the mean of the delays is the mean duration less b, however heavy
/// their tail. So the law is fitted to the left and middle of the durations, and what lies beyond counts as "longer".
/// For each shape of the law on a lattice (law_lattice.hpp), b and the jitter's scale are fitted to the counts between
/// order statistics and integrated over by Laplace's method (law_fit.hpp). The weights of the shapes are their
/// posterior probabilities.
///
/// `wide_jitter`: the prior density of jitter of 5 to 20 % against that of less.
std::vector<Explanation> explain(const Cells& cells, DurationLaws& laws, double wide_jitter);

}  // namespace halcyon
