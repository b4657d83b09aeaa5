// Intervals, and the normal distribution that most of them come from.
#pragma once

namespace halcyon {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};
constexpr bool excludes_zero(const Interval& interval) { return interval.low > 0.0 || interval.high < 0.0; }

/// The probability with which every interval of Halcyon should hold the truth.
inline constexpr double interval_confidence = 0.90;

/// Of the standard normal distribution.
double normal_quantile(double probability);
/// Half the width of a 90 % interval, in standard errors.
double normal_quantile_of_interval();

}  // namespace halcyon
