#include "analyzer/judge/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halcyon {
namespace {

double probability_below(double limit, double estimate, const Interval& interval) {
  const double end = limit < estimate ? interval.low : interval.high;
  const double deviation = std::abs(end - estimate) / normal_quantile_of_interval();
  if (!(deviation > 0.0)) return limit < estimate ? 0.0 : 1.0;
  return 0.5 * std::erfc((estimate - limit) / (deviation * std::numbers::sqrt2));
}

}  // namespace

double probability_high(double interference_percent) {
  constexpr double steepness = 0.35;
  constexpr double inflection = (green_below_percent + red_above_percent) / 2.0;
  return 1.0 / (1.0 + std::exp(-steepness * (interference_percent - inflection)));
}

Verdict verdict_of(double interference_percent) {
  if (!std::isfinite(interference_percent)) return Verdict::unknown;
  if (interference_percent < green_below_percent) return Verdict::green;
  return interference_percent > red_above_percent ? Verdict::red : Verdict::yellow;
}

Verdict verdict_within(double interference_percent, const Interval& percent) {
  const Verdict verdict = verdict_of(interference_percent);
  if (verdict == Verdict::green) return verdict_of(percent.high) == Verdict::red ? Verdict::unknown : verdict;
  if (verdict == Verdict::red) return verdict_of(percent.low) == Verdict::green ? Verdict::unknown : verdict;
  const double green = probability_below(green_below_percent, interference_percent, percent);
  const double red = 1.0 - probability_below(red_above_percent, interference_percent, percent);
  return std::max(green, red) <= 1.0 - green - red ? verdict : Verdict::unknown;
}

}  // namespace halcyon
