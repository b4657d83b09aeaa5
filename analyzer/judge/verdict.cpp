#include "analyzer/judge/verdict.hpp"

#include <cmath>

namespace halcyon {

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

}  // namespace halcyon
