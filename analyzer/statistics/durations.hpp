// The durations of a group as a column for calculations. It has its own header, since Eigen takes a second to compile
// in every file that includes it.
#pragma once

#include <Eigen/Core>

namespace halcyon {

using Durations = Eigen::ArrayXd;  // (segments of a group, in the order of time) seconds

/// What lies farther above the median, in standard deviations of a normal distribution with the same lower quartile, is
/// no jitter.
inline constexpr double far_out_spreads = 8.0;

/// The middle value, or the mean of the two middle ones. Needs at least one value.
double median(Durations values);
/// The same of values in ascending order.
double median_of_ascending(const Durations& values);

/// The standard deviation of a normal distribution with this median and this lower quartile. Delays hardly move them.
double deviation_below(double median, double lower_quartile);

}  // namespace halcyon
