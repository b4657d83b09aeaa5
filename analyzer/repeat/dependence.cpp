#include "analyzer/repeat/dependence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "analyzer/statistics/interval.hpp"
#include "analyzer/statistics/moments.hpp"
#include "analyzer/statistics/student.hpp"

namespace halcyon {
namespace {

std::vector<double> means_of_subsessions(std::span<const double> values, std::size_t size) {
  std::vector<double> means;
  for (std::size_t first = 0; first + size <= values.size(); first += size)
    means.push_back(mean_value(values.subspan(first, size)));
  return means;
}

double products_of_neighbours(std::span<const double> values, double middle) {
  double sum = 0.0;
  for (std::size_t i = 1; i < values.size(); ++i) sum += (values[i - 1] - middle) * (values[i] - middle);
  return sum;
}

/// What the mean is if each value is correlated with the one before it by so much: an autoregressive process of first
/// order.
struct Explanation {
  double log_likelihood = 0.0;  // up to a constant, integrated over mean and variance
  double mean = 0.0;
  double error = 0.0;  // of the mean: the scale of Student's t
};

Explanation explanation_by(double correlation, std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  // The inverse of the correlation matrix of such a process is tridiagonal. These are sums over its elements.
  const double information = ((count - 2.0) * (1.0 - correlation) + 2.0) / (1.0 + correlation);
  double sum = values.front() + values.back();
  for (const double value : values.subspan(1, values.size() - 2)) sum += (1.0 - correlation) * value;
  const double mean = sum / (1.0 + correlation) / information;
  const double unexplained = 1.0 - correlation * correlation;
  double squares = (values.front() - mean) * (values.front() - mean);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double innovation = values[i] - mean - correlation * (values[i - 1] - mean);
    squares += innovation * innovation / unexplained;
  }
  return {-0.5 * ((count - 1.0) * (std::log(unexplained) + std::log(squares)) + std::log(information)), mean,
          std::sqrt(squares / (count - 1.0) / information)};
}

constexpr std::array<double, 10> correlations{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

// How likely each is before the values are looked at: all alike. Too few values say next to nothing of it, and what is
// likely beforehand decides alone. High correlations then count less, and that the runs are few is said.
double prior_of(double correlation, std::size_t values) {
  return values < least_runs_for_correlation ? 1.0 - correlation : 1.0;
}

// Of the explanations, each weighted: the half width around `middle` that has the confidence.
double half_width_around(double middle, std::span<const Explanation> explanations, std::span<const double> weights,
                         double freedom, double confidence) {
  const auto probability_within = [&](double half_width) {
    double sum = 0.0;
    for (std::size_t i = 0; i < explanations.size(); ++i) {
      const Explanation& one = explanations[i];
      const double low = (middle - half_width - one.mean) / one.error;
      const double high = (middle + half_width - one.mean) / one.error;
      sum += weights[i] * (student_probability_below(high, freedom) - student_probability_below(low, freedom));
    }
    return sum;
  };
  double low = 0.0;
  double high = explanations.front().error;
  while (probability_within(high) < confidence) high *= 2.0;
  constexpr double accuracy = 1e-4;
  while (high - low > accuracy * high) {
    const double between = 0.5 * (low + high);
    (probability_within(between) < confidence ? low : high) = between;
  }
  return high;
}

// What remains likely after the values were looked at. Adds up to 1.
std::vector<double> weights_of(std::span<const Explanation> explanations, std::size_t values) {
  double most = explanations.front().log_likelihood;
  for (const Explanation& one : explanations) most = std::max(most, one.log_likelihood);
  std::vector<double> weights;
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    weights.push_back(prior_of(correlations[i], values) * std::exp(explanations[i].log_likelihood - most));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

double variance_factor_of(std::span<const double> values, double confidence) {
  constexpr std::size_t least_values = 3;  // two have no neighbours to compare
  const double middle = mean_value(values);
  if (values.size() < least_values || squares_about(values, middle) <= 0.0) return 1.0;
  std::vector<Explanation> explanations;
  for (const double correlation : correlations) {
    explanations.push_back(explanation_by(correlation, values));
  }
  const auto freedom = static_cast<double>(values.size() - 1);
  const double independent = student_quantile_of_interval(confidence, freedom) * explanations.front().error;
  const double widening =
      half_width_around(middle, explanations, weights_of(explanations, values.size()), freedom, confidence) /
      independent;
  return std::max(1.0, widening * widening);
}

// P. A. P. Moran, "Some theorems on time series II", Biometrika 35, 1948: of n independent normal values, the
// coefficient has the mean -1/n and about the variance (n - 2)^2 / (n^2 (n - 1)).
bool is_beyond_chance(double autocorrelation, std::size_t values) {
  constexpr std::size_t least_values = 4;
  if (values < least_values) return false;
  const auto count = static_cast<double>(values);
  const double deviation = (count - 2.0) / (count * std::sqrt(count - 1.0));
  return autocorrelation + 1.0 / count > normal_quantile(0.95) * deviation;
}

}  // namespace

double lag_one_autocorrelation(std::span<const double> values) {
  if (values.size() < 2) return 0.0;
  const double middle = mean_value(values);
  const double squares = squares_about(values, middle);
  return squares > 0.0 ? products_of_neighbours(values, middle) / squares : 0.0;
}

double subsession_autocorrelation(std::span<const double> values, std::size_t size) {
  const std::vector<double> means = means_of_subsessions(values, size);
  if (means.size() < 2) return 1.0;
  const double middle = mean_value(values);
  const double squares = squares_about(means, middle);
  return squares > 0.0 ? products_of_neighbours(means, middle) / squares : 1.0;
}

double subsession_variance(std::span<const double> values, std::size_t size) {
  const std::vector<double> means = means_of_subsessions(values, size);
  return squares_about(means, mean_value(values)) / static_cast<double>(means.size() - 1);
}

double subsession_half_width(std::span<const double> values, std::size_t size, double confidence) {
  const auto subsessions = static_cast<double>(values.size() / size);
  return student_quantile_of_interval(confidence, subsessions - 1.0) *
         std::sqrt(subsession_variance(values, size) / subsessions);
}

std::optional<std::size_t> subsession_size(std::span<const double> values, double limit) {
  for (std::size_t size = 1; size <= values.size() / 3; ++size) {
    if (std::abs(subsession_autocorrelation(values, size)) <= limit) return size;
  }
  return std::nullopt;
}

Dependence dependence_of(std::span<const double> values, double confidence) {
  Dependence dependence;
  if (values.size() < 2) return dependence;
  dependence.autocorrelation = lag_one_autocorrelation(values);
  dependence.is_significant = is_beyond_chance(dependence.autocorrelation, values.size());
  dependence.variance_factor = variance_factor_of(values, confidence);
  if (!dependence.is_significant) return dependence;
  const std::size_t most = std::max<std::size_t>(1, values.size() / 3);
  dependence.subsession_runs = subsession_size(values, subsession_limit).value_or(most);
  const double widening = subsession_half_width(values, dependence.subsession_runs, confidence) /
                          subsession_half_width(values, 1, confidence);
  dependence.variance_factor = std::max(dependence.variance_factor, widening * widening);
  return dependence;
}

}  // namespace halcyon
