// Estimates of one quantity by several runs, and the error that all of them may share: more runs do not reduce this
// error.
#pragma once

#include <span>
#include <vector>

namespace halcyon {

/// Its largest reach to either side.
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

/// On each side, the weighted median of the reach of the runs' own 90 % intervals: an error that all runs share lies
/// within the intervals of all of them, so the runs with narrow intervals limit it. Needs at least one run.
SharedError shared_error_of(const Estimates& estimates, std::span<const double> weights);

}  // namespace halcyon
