// The mean of values that have different errors, and that also differ among themselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halcyon {

struct WeightedMean {
  double mean = 0.0;
  double error = 0.0;                // standard error, for Student's t with this freedom
  double freedom = 0.0;              // degrees of freedom: number of values - 1; fewer if only a minority weighs much
  double between_variance = 0.0;     // of the values, in addition to their errors: tau^2
  std::vector<double> weights;       // (values) up to a constant
  std::vector<double> own_weights;   // (values) 1 / s^2, from their own errors alone
  std::vector<double> standardized;  // (values) distances from the mean, all of the same variance
};

/// Whether a few values that are known much better than most may outweigh these.
enum class MuchBetterKnown : std::uint8_t { count_like_others, outweigh_others };

/// A random-effects mean: each weight is 1 / (s^2 + tau^2), with the value's own standard error s. tau^2 is chosen so
/// that the weighted squares are as large as expected (R. C. Paule, J. Mandel, "Consensus values and weighting
/// factors", J. Res. NBS 87, 1982); 0 if they are smaller.
///
/// Each error counts as at least half of the middle one, so that no value with a too small error outweighs the others.
/// The error of the mean is estimated from the scatter of the values, sum of w (x - mean)^2 / ((n - 1) sum of w)
/// (J. Hartung, G. Knapp, "On tests of the overall treatment effect in meta-analysis with normally distributed
/// responses", Stat. Med. 20, 2001): errors that are all too large or too small by a factor do not change it.
///
/// If they may outweigh others, and the fifth smallest error (`default_least_runs`: fewer do not show how they scatter)
/// is less than that half, a minority is known much better, and each error counts as at least half of the fifth
/// smallest one. The many others then hardly weigh anything, but would make up most of the sum above, and if their
/// errors are too large, it would be too small. So each value counts as much as it weighs: with the shares h of the
/// weight, the error is the root of the sum of h^2 (x - mean)^2 / (1 - h) (K. Sidik, J. N. Jonkman, "A note on variance
/// estimation in random effects meta-regression", J. Biopharm. Stat. 15, 2005). Its degrees of freedom are
/// Satterthwaite's (R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear regression with
/// multi-stage samples", Surv. Methodol. 28, 2002).
///
/// Needs at least one value; with one, the error is 0.
WeightedMean random_effects_mean(std::span<const double> values, std::span<const double> errors,
                                 MuchBetterKnown few = MuchBetterKnown::count_like_others);

}  // namespace halcyon
