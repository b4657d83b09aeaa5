// How runs of a series depend on the runs before them. Correlated runs say less than as many independent ones.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace halcyon {

/// Sum of (x_i - m)(x_{i+1} - m) over sum of (x_i - m)^2, m the mean: the population's lag-1 coefficient as NIST StRD
/// certifies it. 0 for fewer than two values, and where all are alike.
double lag_one_autocorrelation(std::span<const double> values);

/// The coefficient as Pilot defines it, over the means of subsessions of `size` neighbouring values each: covariance
/// of neighbouring means over their variance, both about the mean of all values. Values behind the last whole
/// subsession are left out. 1 with fewer than two subsessions, and where all are alike.
double subsession_autocorrelation(std::span<const double> values, std::size_t size);

/// Pilot's subsession merge: the smallest size up to a third of the values for which the coefficient of the subsessions
/// is at most `limit` to either side. None where no size is.
std::optional<std::size_t> subsession_size(std::span<const double> values, double limit);

/// Pilot's interval of the mean: half its width, by the variance of the subsessions' means about the mean of all.
double subsession_half_width(std::span<const double> values, std::size_t size, double confidence);

/// How the runs of a series depend on each other.
struct Dependence {
  double autocorrelation = 0.0;     // lag 1
  bool is_significant = false;      // beyond what independent runs show by chance
  std::size_t subsession_runs = 1;  // so many neighbouring runs count as one
  double variance_factor = 1.0;     // the variance of the mean is so many times that of independent runs; at least 1
};
Dependence dependence_of(std::span<const double> values);

}  // namespace halcyon
