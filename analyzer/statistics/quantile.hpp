// Quantiles of a sample.
#pragma once

#include <vector>

namespace halcyon {

/// The value below which the share `p` of the values lies, linear between order statistics (Hyndman and Fan 1996, type
/// 7). Needs at least one value; they need not be sorted.
double quantile(std::vector<double> values, double p);

}  // namespace halcyon
