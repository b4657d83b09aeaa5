// The error that the estimates of all runs of a program may share: the floor of what more runs can tell.
#pragma once

#include <span>
#include <vector>

namespace halcyon {

/// How far it reaches to either side, at most.
struct SharedError {
  double below = 0.0;
  double above = 0.0;
};

/// To either side the median, over the runs, of how far their own 90 % intervals reach to that side, each run with its
/// weight: an error that all runs share lies within the intervals of all of them, so the runs that are known well bound
/// it. `errors_below` and `errors_above`: (runs) standard errors of the estimates to either side. Needs at least one
/// run.
SharedError shared_error_of(std::span<const double> errors_below, std::span<const double> errors_above,
                            std::span<const double> weights);

}  // namespace halcyon
