#include "analyzer/repeat/random_effects.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/repeat/stopping.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

/// The least error that counts.
struct LeastError {
  double error = 0.0;
  bool is_of_minority = false;  // less than half of the values are known that well
};

LeastError least_error(std::span<const double> errors, MuchBetterKnown few) {
  std::vector<double> sorted(errors.begin(), errors.end());
  const double middle = median_in_place(sorted);
  if (few == MuchBetterKnown::outweigh_others && sorted.size() >= default_least_runs) {
    const double of_few = of_rank(sorted, default_least_runs - 1);
    if (of_few > 0.0 && of_few < 0.5 * middle) return {.error = 0.5 * of_few, .is_of_minority = true};
  }
  if (middle > 0.0) return {.error = 0.5 * middle};
  double smallest = 0.0;
  for (const double error : errors) {
    if (error > 0.0 && (smallest == 0.0 || error < smallest)) smallest = error;
  }
  return {.error = smallest > 0.0 ? 0.5 * smallest : 1.0};  // without any error, all values weigh the same
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

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Hartung and Knapp: by all values alike.
void add_error_by_all(WeightedMean& mean, std::span<const double> values) {
  mean.freedom = static_cast<double>(values.size()) - 1.0;
  mean.error = std::sqrt(weighted_squares(mean, values) / (mean.freedom * sum_of(mean.weights)));
}

// Sidik and Jonkman: by each value as much as it weighs.
void add_error_by_weight(WeightedMean& mean, std::span<const double> values) {
  const double weights = sum_of(mean.weights);
  double variance = 0.0;
  double squares = 0.0;  // the last two: for the variance of this variance
  double products = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = mean.weights[i] / weights;
    const double odds = share / (1.0 - share);
    variance += share * odds * (values[i] - mean.mean) * (values[i] - mean.mean);
    squares += odds * odds * (1.0 - 2.0 * share);
    products += odds * share;
  }
  mean.error = std::sqrt(variance);
  mean.freedom = 1.0 / (squares + products * products);
}

}  // namespace

WeightedMean random_effects_mean(std::span<const double> values, std::span<const double> errors, MuchBetterKnown few) {
  const LeastError least = least_error(errors, few);
  std::vector<double> variances;
  for (const double error : errors) variances.push_back(std::pow(std::max(error, least.error), 2));
  WeightedMean result = mean_with(between_variance_of(values, variances), values, variances);
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.standardized.push_back((values[i] - result.mean) * std::sqrt(result.weights[i]));
  }
  for (const double variance : variances) result.own_weights.push_back(1.0 / variance);
  if (values.size() >= 2) (least.is_of_minority ? add_error_by_weight : add_error_by_all)(result, values);
  return result;
}

}  // namespace halcyon
