// The accuracy of the mean of repeated runs. After P. Shivam, V. Marupadi, J. Chase, T. Subramaniam, S. Babu, "Cutting
// Corners: Workbench Automation for Server Benchmarking", USENIX ATC 2008, section 2.3: here "the workbench paper".
#pragma once

#include <span>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// The interval that holds the true mean with this confidence (0 to 1): Student's t for up to 30 values, and the normal
/// distribution beyond (equation 1). A single value says nothing: its interval is infinite. Needs at least one.
Interval interval_of_mean(std::span<const double> values, double confidence);

/// 1 - (high - low) / (high + low), from 0 to 1 (equation 2).
double accuracy_of(const Interval& interval);

}  // namespace halcyon
