#include "analyzer/search/trials.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace halcyon {
namespace {

constexpr std::size_t most_values_for_t = 30;

}  // namespace

Interval interval_of_mean(std::span<const double> values, double confidence) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return interval_around(mean, std::numeric_limits<double>::infinity());
  const double squares = std::accumulate(values.begin(), values.end(), 0.0, [mean](double sum, double value) {
    return sum + (value - mean) * (value - mean);
  });
  const double error = std::sqrt(squares / (count - 1.0) / count);
  const double upper = 0.5 + confidence / 2.0;
  const double quantile = values.size() > most_values_for_t
                              ? normal_quantile(upper)
                              : boost::math::quantile(boost::math::students_t(count - 1.0), upper);
  return interval_around(mean, quantile * error);
}

double accuracy_of(const Interval& interval) {
  const double width = interval.high - interval.low;
  if (width <= 0.0) return 1.0;
  const double sum = std::abs(interval.high + interval.low);
  return std::isfinite(width) && sum > 0.0 ? std::max(0.0, 1.0 - width / sum) : 0.0;
}

}  // namespace halcyon
