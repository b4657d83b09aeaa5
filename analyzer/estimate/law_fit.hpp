// One law of durations, fitted to the counts of one group.
#pragma once

#include "analyzer/estimate/cells.hpp"
#include "analyzer/estimate/duration_law.hpp"
#include "analyzer/estimate/jitter_prior.hpp"

namespace halcyon {

/// The weights for the counts of a group.
struct Weighing {
  double temper = 1.0;  // power of the likelihood, see temper_of()
  JitterPrior jitter;
};

/// Where a fit begins.
struct FitStart {
  double baseline = 0.0;  // s
  double scale = 0.0;     // s
};
/// A start at which the law's tenth and middle agree with the group's.
FitStart rough_start(const DurationLaw& law, const Cells& cells);

struct LawFit {
  double baseline = 0.0;     // s
  double scale = 0.0;        // s, standard deviation of the jitter
  double variance = 0.0;     // s^2, of the baseline
  double evidence = -1e300;  // log of the integrated likelihood, up to a constant of the group
};

/// The most probable baseline and jitter, by the Levenberg-Marquardt method with the expected information. Both are
/// integrated over by Laplace's method. Gives up early if the law has no chance against the evidence `best_so_far`.
LawFit fit_law(const DurationLaw& law, const Cells& cells, const Weighing& weighing, double best_so_far,
               FitStart start);

/// Whether the fitted jitter is wide enough to be distinguished from the steps of the clock.
bool is_told_from_clock(const LawFit& fit, const Cells& cells);

/// The deviance over its degrees of freedom, with the tempered likelihood: about 1 for a law that is right. Also 1 if
/// there are too few cells.
double dispersion_of(const LawFit& fit, const DurationLaw& law, const Cells& cells, const Weighing& weighing);

}  // namespace halcyon
