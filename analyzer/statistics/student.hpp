// Student's t distribution.
#pragma once

namespace halcyon {

/// Half the width of a two-sided interval, in standard errors. `freedom` need not be whole.
double student_quantile_of_interval(double confidence, double freedom);

/// The probability of a value within so many standard errors to either side.
double student_probability_within(double half_width, double freedom);

}  // namespace halcyon
