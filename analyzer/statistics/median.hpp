// The median of sorted values, and its error.
#pragma once

#include <span>

namespace halcyon {

/// The middle value, or the mean of the two middle ones. Needs at least one value.
double median_of_ascending(std::span<const float> values);

/// The standard error of a median without a model of the distribution, from two order statistics around it (R. M.
/// Price, D. G. Bonett, Estimating the variance of the sample median, J. Stat. Comput. Simul. 68, 2001): with
/// c = (n + 1)/2 - sqrt(n) it is (x[n-c+1] - x[c]) / 2z, where z is the normal quantile of the binomial chance that the
/// true median lies below x[c].
double error_of_median(std::span<const float> ascending);

}  // namespace halcyon
