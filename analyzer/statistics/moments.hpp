// Mean and scatter of values.
#pragma once

#include <span>

namespace halcyon {

/// Needs at least one value.
double mean_value(std::span<const double> values);
/// The sum of their squared distances from a value.
double squares_about(std::span<const double> values, double middle);

}  // namespace halcyon
