#include "analyzer/repeat/estimates.hpp"

#include <algorithm>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {
namespace {

struct Weighted {
  double value = 0.0;
  double weight = 0.0;
};

// The value with half of the weight on either side.
double weighted_median(std::span<const double> values, std::span<const double> weights) {
  std::vector<Weighted> sorted;
  double half = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sorted.push_back({values[i], weights[i]});
    half += 0.5 * weights[i];
  }
  std::sort(sorted.begin(), sorted.end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double sum = 0.0;
  for (const Weighted& one : sorted) {
    sum += one.weight;
    if (sum >= half) return one.value;
  }
  return sorted.back().value;
}

}  // namespace

void Estimates::add(double value, double error_below, double error_above) {
  values.push_back(value);
  errors_below.push_back(error_below);
  errors_above.push_back(error_above);
  errors.push_back(std::max(error_below, error_above));
}

SharedError shared_error_of(const Estimates& estimates, std::span<const double> weights) {
  const double reach = normal_quantile_of_interval();
  return {reach * weighted_median(estimates.errors_below, weights),
          reach * weighted_median(estimates.errors_above, weights)};
}

}  // namespace halcyon
