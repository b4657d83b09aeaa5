// Sorting of durations: groups hold millions of them, and order statistics are what all methods ask for.
#pragma once

#include <cstddef>
#include <span>

namespace halcyon {

/// Sorts values that are not NaN, in a time that grows as their number.
void sort_ascending(std::span<float> values);
void sort_ascending(std::span<double> values);


/// The value of that rank, from 0 on. Changes the order of the values.
double of_rank(std::span<double> values, std::size_t rank);
/// Needs one value; of an even number it is the upper of both in the middle. Changes the order of the values.
double median_in_place(std::span<double> values);

}  // namespace halcyon
