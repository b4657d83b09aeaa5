#include "analyzer/estimate/discrepancy.hpp"

#include <algorithm>
#include <cmath>

namespace halcyon {
namespace {

constexpr double of_all = 0.001;  // what a report shows is no finer
constexpr double of_estimate = 0.02;
constexpr double of_distance = 0.35;

double to_log(double share) { return -std::log1p(-std::clamp(share, 0.0, std::nextafter(1.0, 0.0))); }
double from_log(double value) { return -std::expm1(-std::max(0.0, value)); }

}  // namespace

Interval with_discrepancy(const Interval& excess_seconds, double estimate_seconds, double run_time) {
  if (!(run_time > 0.0)) return excess_seconds;
  const double low = to_log(excess_seconds.low / run_time);
  const double high = to_log(excess_seconds.high / run_time);
  const double estimate = to_log(estimate_seconds / run_time);
  const auto moved_by = [&](double end) {
    return of_all + of_estimate * estimate + of_distance * std::abs(end - estimate);
  };
  return {run_time * from_log(std::min(low, estimate) - moved_by(low)),
          run_time * from_log(std::max(high, estimate) + moved_by(high))};
}

}  // namespace halcyon
