// Student's t distribution.
#pragma once

namespace halcyon {

/// Half the width of a two-sided interval, in standard errors. `freedom` need not be whole.
double student_quantile_of_interval(double confidence, double freedom);

/// The probability of a value below that.
double student_probability_below(double value, double freedom);

}  // namespace halcyon
