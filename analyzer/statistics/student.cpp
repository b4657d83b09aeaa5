#include "analyzer/statistics/student.hpp"

#include <boost/math/distributions/students_t.hpp>

namespace halcyon {

double student_quantile_of_interval(double confidence, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), 0.5 + confidence / 2.0);
}

double student_probability_below(double value, double freedom) {
  return boost::math::cdf(boost::math::students_t(freedom), value);
}

}  // namespace halcyon
