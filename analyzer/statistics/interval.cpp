#include "analyzer/statistics/interval.hpp"

#include <boost/math/distributions/normal.hpp>

namespace halcyon {

double normal_quantile(double probability) { return boost::math::quantile(boost::math::normal(), probability); }

double normal_quantile_of_interval() { return normal_quantile(0.5 + interval_confidence / 2.0); }

double expected_order_statistic(double i, double k) { return normal_quantile((i - 0.375) / (k + 0.25)); }

}  // namespace halcyon
