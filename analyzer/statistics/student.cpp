#include "analyzer/statistics/student.hpp"

#include <boost/math/distributions/students_t.hpp>

namespace halcyon {

double student_quantile_of_interval(double confidence, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), 0.5 + confidence / 2.0);
}

double student_probability_within(double half_width, double freedom) {
  return 1.0 - 2.0 * boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), half_width));
}

}  // namespace halcyon
