// Two kinds of work in one group that no feature distinguishes. They appear as two narrow peaks, which delays do not
// cause.
#pragma once

#include <optional>

#include "analyzer/estimate/cells.hpp"
#include "analyzer/estimate/jitter_prior.hpp"

namespace halcyon {

struct OtherWork {
  double baseline = 0.0;  // s, of the shorter kind
  double longer = 0.0;    // s, by which the other kind is longer
  double share = 0.0;     // of the segments
  double scale = 0.0;     // s, standard deviation of the shorter kind's jitter
  double evidence = 0.0;  // log of the integrated likelihood, up to the constant of the group that all its laws share
};

/// Two normal laws of the same relative width, the second 1 to 100 % longer. They are fitted by Fisher's scoring and
/// integrated over by Laplace's method. Nothing if no such pair fits. `temper`: the power of the likelihood, see
/// temper_of().
std::optional<OtherWork> fit_other_work(const Cells& cells, const JitterPrior& jitter, double temper);

}  // namespace halcyon
