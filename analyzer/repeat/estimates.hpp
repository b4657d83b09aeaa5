// Estimates of one quantity by several runs, and the error that all of them may share: the floor of what more runs can
// tell.
#pragma once

#include <span>
#include <vector>

namespace halcyon {

/// How far it reaches to either side, at most.
struct SharedError {
  double below = 0.0;
  double above = 0.0;
};

/// Estimates of one quantity by several runs, as columns.
struct Estimates {
  std::vector<double> values;
  std::vector<double> errors_below;  // standard errors to either side
  std::vector<double> errors_above;
  std::vector<double> errors;  // the larger of both

  void add(double value, double error_below, double error_above);
};

/// To either side the median, over the runs, of how far their own 90 % intervals reach to that side, each run with its
/// weight: an error that all runs share lies within the intervals of all of them, so the runs that are known well bound
/// it. Needs at least one run.
SharedError shared_error_of(const Estimates& estimates, std::span<const double> weights);

}  // namespace halcyon
