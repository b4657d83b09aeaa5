#include "analyzer/statistics/durations.hpp"

#include <algorithm>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {

double median(Durations values) {
  const Eigen::Index half = values.size() / 2;
  double* const begin = values.data();
  double* const end = begin + values.size();
  std::nth_element(begin, begin + half, end);
  const double upper = values[half];
  return values.size() % 2 == 1 ? upper : 0.5 * (upper + *std::max_element(begin, begin + half));
}

double median_of_ascending(const Durations& values) {
  const Eigen::Index half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half] + values[half - 1]);
}

double deviation_below(double median, double lower_quartile) {
  return (median - lower_quartile) / normal_quantile(0.75);
}

}  // namespace halcyon
