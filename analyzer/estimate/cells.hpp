// What laws are fitted to: how many of a group's durations lie between order statistics, and what jitter is usual.
#pragma once

#include <vector>

#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// Counts of a group's durations in cells; a law is fitted to the left and the middle, and what lies beyond counts as
/// "longer".
struct Cells {
  std::vector<double> edges;   // s
  std::vector<double> counts;  // one more than edges: the last counts what is longer
  double segments = 0.0;
  double mean = 0.0;    // s
  double finest = 0.0;  // s, what can be told apart
  double low = 0.0;     // s, a tenth is shorter
  double middle = 0.0;  // s
};

Cells cells_of(const Durations& durations);

/// The prior density of jitter, relative to the baseline: all up to 4.5 % alike. Wider jitter, up to some 20 %, has the
/// density `wide` against that.
struct JitterPrior {
  double wide = 0.0;

  struct Point {
    double log_density;
    double slope;      // by the log of the jitter
    double curvature;  // the other way round, not negative
  };
  Point at(double jitter) const;
};

/// By how much a likelihood of so many segments counts: no number of them makes a law that is only nearly right look
/// certain (Miller and Dunson, "Robust Bayesian inference via coarsening", JASA 114, 2019).
double temper_of(const Cells& cells);

}  // namespace halcyon
