#include "analyzer/online/phase_rate.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/student.hpp"

namespace halcyon {
namespace {

constexpr double most_of_a_sample = 3.0;   // deviations
constexpr double least_deviation = 0.005;  // of the rate: samples that are all alike are not known better than that

}  // namespace

void PhaseRate::Stretch::add(const RateSample& sample) {
  seconds += sample.seconds;
  units += sample.units;
  rates.add(sample.units / sample.seconds);
}

bool PhaseRate::Side::add(double beyond, const RateSample& sample, double limit) {
  sum = std::max(0.0, sum + beyond);
  if (sum > 0.0) {
    since.add(sample);
  } else {
    since = {};
  }
  return sum > limit;
}

bool PhaseRate::add(const RateSample& sample) {
  if (sample.is_blocked || !(sample.seconds > 0.0)) return false;
  if (phase_.rates.count() >= settings_.least_samples) {
    const double middle = phase_.rates.mean();
    const double deviation = std::max(phase_.rates.deviation(), least_deviation * std::abs(middle));
    const double away = deviation > 0.0 ? (sample.units / sample.seconds - middle) / deviation : 0.0;
    const double counted = std::clamp(away, -most_of_a_sample, most_of_a_sample);
    const double allowance = settings_.allowance + 2.0 / std::sqrt(static_cast<double>(phase_.rates.count()));
    const bool is_faster = faster_.add(counted - allowance, sample, settings_.limit);
    const bool is_slower = slower_.add(-counted - allowance, sample, settings_.limit);
    if (is_faster || is_slower) {
      phase_ = is_faster ? faster_.since : slower_.since;
      faster_ = slower_ = {};
      return true;
    }
  }
  phase_.add(sample);
  return false;
}

std::optional<double> PhaseRate::rate() const {
  return phase_.seconds > 0.0 ? std::optional(phase_.units / phase_.seconds) : std::nullopt;
}

std::optional<Interval> PhaseRate::interval() const {
  const auto count = static_cast<double>(phase_.rates.count());
  if (count < 2.0) return {};
  return interval_around(*rate(), student_quantile_of_interval(interval_confidence, count - 1.0) *
                                      phase_.rates.deviation() / std::sqrt(count));
}

}  // namespace halcyon
