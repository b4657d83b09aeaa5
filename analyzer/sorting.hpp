// Sorting of durations: groups hold millions of them, and order statistics are what all methods ask for.
#pragma once

#include <span>

namespace halcyon {

/// Sorts values that are not NaN, in a time that grows as their number.
void sort_ascending(std::span<float> values);
void sort_ascending(std::span<double> values);

}  // namespace halcyon
