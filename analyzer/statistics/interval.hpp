// Intervals, and the normal distribution on which most of them are based.
#pragma once

namespace halcyon {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};
constexpr Interval interval_around(double value, double half_width) { return {value - half_width, value + half_width}; }
/// Of a value that cannot be negative. An estimate below 0 stays visible.
constexpr Interval not_below_zero(double value, const Interval& interval) {
  return value >= 0.0 && interval.low < 0.0 ? Interval{0.0, interval.high} : interval;
}
constexpr bool excludes_zero(const Interval& interval) { return interval.low > 0.0 || interval.high < 0.0; }

/// The probability with which every interval of Halcyon should contain the truth.
inline constexpr double interval_confidence = 0.90;

/// The quantile of the standard normal distribution.
double normal_quantile(double probability);
/// Half the width of a 90 % interval, in standard errors.
double normal_quantile_of_interval();
/// The mean of the i-th smallest of k draws, i from 1 on. By W. F. Blom's approximation ("Statistical Estimates and
/// Transformed Beta-Variables", 1958): quantile of (i - 3/8) / (k + 1/4).
double expected_order_statistic(double i, double k);

}  // namespace halcyon
