// How runs of a series depend on the runs before them. Correlated runs say less than the same number of independent
// ones.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace halcyon {

/// Sum of (x_i - m)(x_{i+1} - m) over sum of (x_i - m)^2, m the mean: the population's lag-1 coefficient as NIST StRD
/// certifies it. 0 for fewer than two values, or if all are equal.
double lag_one_autocorrelation(std::span<const double> values);

/// The coefficient as Pilot defines it, over the means of subsessions of `size` neighbouring values each: covariance of
/// neighbouring means over their variance, both about the mean of all values. Values after the last whole subsession
/// are left out. 1 with fewer than two subsessions, or if all are equal.
double subsession_autocorrelation(std::span<const double> values, std::size_t size);

/// The variance of the means of subsessions about the mean of all values, and half the width of the interval of that
/// mean, both as Pilot defines them. Need at least two subsessions.
double subsession_variance(std::span<const double> values, std::size_t size);
double subsession_half_width(std::span<const double> values, std::size_t size, double confidence);

/// Pilot's default: subsessions whose coefficient is at most that, to either side, count as independent.
inline constexpr double subsession_limit = 0.1;

/// Pilot's subsession merge: the smallest size up to a third of the values for which the coefficient of the subsessions
/// is at most `limit` to either side. None if there is no such size.
std::optional<std::size_t> subsession_size(std::span<const double> values, double limit);

/// How the runs of a series depend on each other.
struct Dependence {
  double autocorrelation = 0.0;     // lag 1
  bool is_significant = false;      // independent runs show this by chance one in twenty times
  std::size_t subsession_runs = 1;  // number of neighbouring runs that count as one; 1 if it is not significant
  double variance_factor = 1.0;     // variance of the mean, relative to independent runs; at least 1
};

/// With fewer runs, even a correlation of 0.7 is mostly not significant.
inline constexpr std::size_t least_runs_for_correlation = 10;

/// A few runs do not show their correlation: its standard error is about 1 / sqrt(n). So the interval of the mean is
/// averaged over the possible correlations, each weighted by how well it explains the values (docs/repeat.md). If the
/// correlation is significant, the interval by subsessions counts if it is wider. `variance_factor` is the square of
/// how much wider the interval is than Student's. `confidence` is the interval's.
Dependence dependence_of(std::span<const double> values, double confidence);

}  // namespace halcyon
