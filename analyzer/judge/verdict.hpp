// The traffic light.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {

enum class Verdict : std::uint8_t { green, yellow, red, unknown };

constexpr std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::green: return "green";
    case Verdict::yellow: return "yellow";
    case Verdict::red: return "red";
    case Verdict::unknown: break;
  }
  return "unknown";
}

/// Limits of the classes in percent of the disturbed run time (the paper, section 3, "Evaluation Methodology").
inline constexpr double green_below_percent = 7.5;
inline constexpr double red_above_percent = 15.0;

/// Probability of a highly disturbed run, 1 / (1 + exp(-0.35 (x - 11.25))), x in percent (same section).
double probability_high(double interference_percent);

/// Green below 7.5 %, yellow up to 15 %, red beyond. Unknown for NaN and infinity.
Verdict verdict_of(double interference_percent);

/// The same, as far as a 90 % interval carries it. Unknown if a green run may be red, or a red one green, with a
/// probability above 5 %, or if a yellow run is more probably green, or more probably red. Between the estimate and
/// each end of the interval, the values are those of one half of a normal law.
Verdict verdict_within(double interference_percent, const Interval& percent);

}  // namespace halcyon
