#include "analyzer/statistics/median.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>

namespace halcyon {

double median_of_ascending(std::span<const float> values) {
  const auto at = [values](std::size_t index) { return static_cast<double>(values[index]); };
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? at(half) : 0.5 * (at(half) + at(half - 1));
}

double error_of_median(std::span<const float> ascending) {
  const double n = static_cast<double>(ascending.size());
  const auto c = static_cast<std::size_t>(std::max(1L, std::lround((n + 1.0) / 2.0 - std::sqrt(n))));
  const double below = boost::math::cdf(boost::math::binomial(n, 0.5), static_cast<double>(c - 1));
  const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), below));
  return (static_cast<double>(ascending[ascending.size() - c]) - static_cast<double>(ascending[c - 1])) / (2.0 * z);
}

}  // namespace halcyon
