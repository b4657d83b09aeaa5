// Student's t distribution.
#pragma once

namespace halcyon {

/// Half the width of a two-sided interval, in standard errors. `freedom` needs not be whole.
double student_quantile_of_interval(double confidence, double freedom);

}  // namespace halcyon
