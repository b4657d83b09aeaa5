#include "analyzer/repeat/random_effects.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

// The least error that counts. It is at least half of the middle one.
double least_error(std::span<const double> errors) {
  std::vector<double> sorted(errors.begin(), errors.end());
  const double middle = median_in_place(sorted);
  if (middle > 0.0) return 0.5 * middle;
  double smallest = 0.0;
  for (const double error : errors) {
    if (error > 0.0 && (smallest == 0.0 || error < smallest)) smallest = error;
  }
  return smallest > 0.0 ? 0.5 * smallest : 1.0;  // without any error, all values weigh the same
}

WeightedMean mean_with(double between_variance, std::span<const double> values, std::span<const double> variances) {
  WeightedMean result{.between_variance = between_variance};
  double sum = 0.0;
  double weights = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double weight = result.weights.emplace_back(1.0 / (variances[i] + between_variance));
    sum += weight * values[i];
    weights += weight;
  }
  result.mean = sum / weights;
  return result;
}

double weighted_squares(const WeightedMean& mean, std::span<const double> values) {
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += mean.weights[i] * (values[i] - mean.mean) * (values[i] - mean.mean);
  }
  return squares;
}

// Paule and Mandel: the weighted squares fall as the variance between values rises.
double between_variance_of(std::span<const double> values, std::span<const double> variances) {
  const double expected = static_cast<double>(values.size()) - 1.0;
  const auto squares_with = [&](double variance) {
    return weighted_squares(mean_with(variance, values, variances), values);
  };
  if (squares_with(0.0) <= expected) return 0.0;
  double low = 0.0;
  double high = *std::max_element(variances.begin(), variances.end());
  while (squares_with(high) > expected) high *= 2.0;
  constexpr double accuracy = 1e-9;
  while (high - low > accuracy * high) {
    const double between = 0.5 * (low + high);
    (squares_with(between) > expected ? low : high) = between;
  }
  return high;
}

}  // namespace

WeightedMean random_effects_mean(std::span<const double> values, std::span<const double> errors) {
  const double least = least_error(errors);
  std::vector<double> variances;
  for (const double error : errors) variances.push_back(std::pow(std::max(error, least), 2));
  WeightedMean result = mean_with(between_variance_of(values, variances), values, variances);
  double weights = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    weights += result.weights[i];
    result.standardized.push_back((values[i] - result.mean) * std::sqrt(result.weights[i]));
  }
  for (const double variance : variances) result.own_weights.push_back(1.0 / variance);
  if (values.size() < 2) return result;
  const double freedom = static_cast<double>(values.size()) - 1.0;
  result.error = std::sqrt(weighted_squares(result, values) / (freedom * weights));
  return result;
}

}  // namespace halcyon
