// Sorting and order statistics, which all methods need. Groups hold millions of durations.
#pragma once

#include <cstddef>
#include <span>

namespace halcyon {

/// Sorts values that are not NaN, in linear time.
void sort_ascending(std::span<float> values);
void sort_ascending(std::span<double> values);

/// The value of that rank, from 0 on. Changes the order of the values.
double of_rank(std::span<double> values, std::size_t rank);
/// Needs one value. For an even number of values it is the upper one of the two in the middle. Changes the order of the
/// values.
double median_in_place(std::span<double> values);

}  // namespace halcyon
