#include "analyzer/judge/draws.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "analyzer/statistics/quantile.hpp"

namespace halcyon {
namespace {

constexpr std::size_t draws = 2048;  // Numerics: an end is then known to a few thousandths

// The root of x^(d + 1) = x + 1 that is above 1, for d dimensions. Multiples of its inverse powers fill them evenly.
double generalized_golden_ratio(std::size_t dimensions) {
  double root = 2.0;
  for (int step = 0; step < 40; ++step) root = std::pow(1.0 + root, 1.0 / static_cast<double>(dimensions + 1));
  return root;
}

double fraction(double value) { return value - std::floor(value); }

}  // namespace

Interval interval_of_draws(double estimate, const Interval& likely, const Interval& possible,
                           std::span<const Addend> all_addends) {
  std::vector<Addend> addends(all_addends.begin(), all_addends.end());
  std::erase_if(addends, [](const Addend& one) { return one.ends.low == 0.0 && one.ends.high == 0.0; });
  const double step = 1.0 / generalized_golden_ratio(addends.size() + 1);
  const double deviations = normal_quantile_of_interval();
  std::vector<double> values(draws);
  for (std::size_t i = 0; i < draws; ++i) {
    double stride = step;
    const auto next = [&] {
      const double place = fraction(0.5 + static_cast<double>(i + 1) * stride);
      stride *= step;
      return place;
    };
    const double normal = normal_quantile(std::clamp(next(), 1e-9, 1.0 - 1e-9));
    const double half = normal < 0.0 ? estimate - likely.low : likely.high - estimate;
    values[i] = std::clamp(estimate + normal * std::max(0.0, half) / deviations, possible.low, possible.high);
    for (const Addend& addend : addends) {
      const double place = addend.is_all_or_nothing ? std::round(next()) : next();
      values[i] += std::lerp(addend.ends.low, addend.ends.high, place);
    }
  }
  constexpr double beyond = 0.5 * (1.0 - interval_confidence);
  return {std::min(quantile(values, beyond), std::clamp(likely.low, possible.low, possible.high)),
          quantile(values, 1.0 - beyond)};
}

}  // namespace halcyon
