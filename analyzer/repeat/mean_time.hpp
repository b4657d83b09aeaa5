// The mean of several runs' times, its interval, and the number of runs needed for the requested precision.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "analyzer/repeat/dependence.hpp"
#include "analyzer/repeat/estimates.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// The requested precision of a mean.
struct Precision {
  double within_percent = 2.0;  // half width of the interval, in percent of the mean
  double confidence = 0.95;     // of the interval, between 0 and 1
  /// The share of the common error of all runs that counts. Only simulations use less than all.
  double shared_error = 1.0;
};

/// A mean of times, in seconds. With fewer than two runs there is no interval.
struct MeanTime {
  std::size_t runs = 0;
  double mean_seconds = 0.0;                 // undefined without a run
  std::optional<Interval> interval_seconds;  // with `confidence`; not below 0
  double confidence = 0.0;
  double random_seconds = 0.0;  // half width of the part that more runs make narrower
  // The part that all runs share, and that more runs do not make narrower: its reach to either side. 0 for measured
  // times.
  double floor_below_seconds = 0.0;
  double floor_above_seconds = 0.0;
  /// Total number of runs for the requested half width, if the scatter of the runs stays the same. None with fewer than
  /// two runs, or if the floor is above the requested half width.
  std::optional<std::size_t> runs_needed;
  Dependence dependence;  // of the runs; it is in the interval

  /// Half of the interval's width, in percent of the mean, as if it could reach below 0.
  std::optional<double> half_width_percent() const;
  /// Its expected value after `all_runs` runs, if their scatter stays the same.
  std::optional<double> half_width_percent_after(std::size_t all_runs) const;
  /// Its lower limit, in percent of the mean.
  double floor_percent() const;
};

/// One time with its own error: a standard error on each side, since intervals are not symmetric.
struct UncertainTime {
  double seconds = 0.0;
  double error_below = 0.0;  // s
  double error_above = 0.0;  // s

  /// By a normal law on either side of the estimate.
  static UncertainTime of(double seconds, const Interval& interval, double confidence);
};

Estimates estimates_of(std::span<const UncertainTime> times);

/// The plain mean with Student's interval. Correlation between the runs widens it (dependence.hpp).
MeanTime mean_of(std::span<const double> seconds, const Precision& precision);

/// The mean of times that are known with different errors (random_effects.hpp); of a run's two errors the larger one
/// counts. Correlation between the runs widens the interval. To either side, the error that all runs may share is added
/// in quadrature (estimates.hpp), each run weighted by the inverse square of its error. It is that of 90 % intervals
/// for any confidence: such an error is bounded, and does not scatter.
MeanTime mean_of(std::span<const UncertainTime> times, const Precision& precision);

}  // namespace halcyon
