// The mean of values that have different errors, and that also differ among themselves.
#pragma once

#include <span>
#include <vector>

namespace halcyon {

struct WeightedMean {
  double mean = 0.0;
  double error = 0.0;                // standard error for Student's t; degrees of freedom: number of values - 1
  double between_variance = 0.0;     // of the values, in addition to their errors: tau^2
  std::vector<double> weights;       // (values) up to a constant
  std::vector<double> own_weights;   // (values) 1 / s^2, from their own errors alone
  std::vector<double> standardized;  // (values) distances from the mean, all of the same variance
};

/// A random-effects mean: each weight is 1 / (s^2 + tau^2), with the value's own standard error s. tau^2 is chosen so
/// that the weighted squares are as large as expected (R. C. Paule, J. Mandel, "Consensus values and weighting
/// factors", J. Res. NBS 87, 1982); 0 if they are smaller. The error is estimated from the scatter of the values, sum
/// of w (x - mean)^2 / ((n - 1) sum of w) (J. Hartung, G. Knapp, "On tests of the overall treatment effect in
/// meta-analysis with normally distributed responses", Stat. Med. 20, 2001): errors that are all too large or too small
/// by a factor do not change it. Each error counts as at least half of the middle one, so that no value with a too
/// small error outweighs the others. Needs at least one value; with one, the error is 0.
WeightedMean random_effects_mean(std::span<const double> values, std::span<const double> errors);

}  // namespace halcyon
