// What a group's durations say of the time that delays added to them, all of it: also where no segment was spared.
#pragma once

#include <vector>

#include "analyzer/estimate/duration_law.hpp"
#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// One law that may have made a group's durations, with what fits it best.
struct Explanation {
  DurationShape shape;
  double baseline = 0.0;   // s
  double scale = 0.0;      // s, standard deviation of the jitter
  double deviation = 0.0;  // s, of the time that was added to a segment, on average, if this is the law
  double evidence = 0.0;   // log of the posterior probability, up to a constant of the group
};

/// The laws that may have made a group's durations, less those that are so much less probable than the best that other
/// groups cannot change it.
///
/// A duration is b (1 + e) + D_1 + ... + D_N: jitter e of mean 0, N Poisson distributed delays (none in segments that
/// were not exposed). The total needs only b: the mean of the delays is the mean duration less b, however heavy
/// their tail. So the law is fitted to the left and middle of the durations, and what lies beyond counts as "longer".
/// For each shape of the law on a lattice (duration_law.hpp), b and the jitter's scale are fitted to the counts
/// between order statistics and integrated over by Laplace's method; the shapes' weights are their posterior
/// probabilities. The likelihood is tempered, so that no number of segments makes a law that is only
/// nearly right look certain (Miller and Dunson, "Robust Bayesian inference via coarsening", JASA 114, 2019).
///
/// `wide_jitter`: the prior density of jitter of 5 to 20 % against that of less.
std::vector<Explanation> explain(const Durations& durations, DurationLaws& laws, double wide_jitter);

/// Disturbance does not know groups: how long a delay lasts is the same for all, and how often one comes in a second,
/// or in a call, nearly so. Multiplies each group's evidence by what the groups in `telling` say to its explanations.
/// `calls`: (groups) MPI and file operations of a segment.
void share_between_groups(std::vector<std::vector<Explanation>>& groups, const std::vector<double>& calls,
                          const std::vector<std::size_t>& telling);

/// The posterior of the time that delays added to a segment of a group, on average.
struct AddedTime {
  double low = 0.0;     // s, 5 % lie below
  double median = 0.0;  // s
  double high = 0.0;    // s, 5 % lie above
  double jitter = 0.0;  // s, standard deviation of undisturbed durations by the most probable law
};
/// `far_out`: what delays added at least, whatever the law, s of a segment on average.
AddedTime added_time(const std::vector<Explanation>& explanations, double mean_duration, double far_out = 0.0);

}  // namespace halcyon
