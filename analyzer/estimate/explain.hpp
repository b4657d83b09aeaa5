// The laws that may explain a group's durations, and the probability of each.
#pragma once

#include <vector>

#include "analyzer/estimate/cells.hpp"
#include "analyzer/estimate/duration_law.hpp"

namespace halcyon {

/// One law that may explain a group's durations, with its best-fitting parameters.
struct Explanation {
  DurationShape shape;
  double baseline = 0.0;   // s
  double scale = 0.0;      // s, standard deviation of the jitter
  double deviation = 0.0;  // s, standard deviation of the mean time added to a segment, under this law
  double evidence = 0.0;   // log of the posterior probability, up to a constant of the group
};

/// Whether time came from outside under a law. This needs delays or spikes.
bool adds_time(const DurationShape& shape);

/// The laws that may explain a group's durations. Laws that stay improbable whatever the other groups show are left
/// out.
///
/// A duration is b (1 + e) + D_1 + ... + D_N: jitter e of mean 0, and N Poisson distributed delays (none in segments
/// that were not exposed). The total needs only b: the mean of the delays is the mean duration minus b, even if their
/// tail is heavy. So the law is fitted to the left and middle of the durations, and the rest counts as "longer". For
/// each shape of the law on a lattice (law_lattice.hpp), b and the jitter's scale are fitted to the counts between
/// order statistics and integrated over by Laplace's method (law_fit.hpp). The weights of the shapes are their
/// posterior probabilities.
///
/// `wide_jitter`: the prior density of jitter of 5 to 20 %, relative to that of smaller jitter. `may_be_two_kinds`: of
/// work (other_work.hpp).
std::vector<Explanation> explain(const Cells& cells, DurationLaws& laws, double wide_jitter, bool may_be_two_kinds);

}  // namespace halcyon
