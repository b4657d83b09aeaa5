#include "analyzer/repeat/mean_time.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/repeat/narrowing.hpp"
#include "analyzer/repeat/random_effects.hpp"
#include "analyzer/statistics/moments.hpp"
#include "analyzer/statistics/student.hpp"

namespace halcyon {
namespace {

double half_width_with(const MeanTime& mean, double random_seconds) {
  return 0.5 *
         (std::hypot(random_seconds, mean.floor_below_seconds) + std::hypot(random_seconds, mean.floor_above_seconds));
}

double percent_of_mean(const MeanTime& mean, double seconds) { return 100.0 * seconds / mean.mean_seconds; }

std::optional<std::size_t> runs_needed_for(const MeanTime& mean, double within_percent) {
  if (!mean.interval_seconds || mean.floor_percent() >= within_percent) return std::nullopt;
  return least_runs_for([&](std::size_t runs) { return *mean.half_width_percent_after(runs) <= within_percent; });
}

// `independent_seconds`: half width of the random part if the runs were independent.
void set_interval(MeanTime& mean, double independent_seconds, const Precision& precision) {
  mean.random_seconds = independent_seconds * std::sqrt(mean.dependence.variance_factor);
  mean.interval_seconds = not_below_zero(
      mean.mean_seconds, {mean.mean_seconds - std::hypot(mean.random_seconds, mean.floor_below_seconds),
                          mean.mean_seconds + std::hypot(mean.random_seconds, mean.floor_above_seconds)});
  mean.runs_needed = runs_needed_for(mean, precision.within_percent);
}

}  // namespace

UncertainTime UncertainTime::of(double seconds, const Interval& interval, double confidence) {
  const double errors = normal_quantile(0.5 + confidence / 2.0);
  return {seconds, std::max(0.0, seconds - interval.low) / errors, std::max(0.0, interval.high - seconds) / errors};
}

Estimates estimates_of(std::span<const UncertainTime> times) {
  Estimates estimates;
  for (const UncertainTime& time : times) estimates.add(time.seconds, time.error_below, time.error_above);
  return estimates;
}

std::optional<double> MeanTime::half_width_percent() const {
  if (!interval_seconds) return std::nullopt;
  return percent_of_mean(*this, half_width_with(*this, random_seconds));
}

std::optional<double> MeanTime::half_width_percent_after(std::size_t all_runs) const {
  if (!interval_seconds || all_runs < 2) return std::nullopt;
  return percent_of_mean(*this, half_width_with(*this, random_seconds * narrowing(runs, all_runs, confidence)));
}

double MeanTime::floor_percent() const {
  return percent_of_mean(*this, 0.5 * (floor_below_seconds + floor_above_seconds));
}

MeanTime mean_of(std::span<const double> seconds, const Precision& precision) {
  MeanTime mean{.runs = seconds.size(), .confidence = precision.confidence};
  if (seconds.empty()) return mean;
  mean.mean_seconds = mean_value(seconds);
  if (seconds.size() < 2) return mean;
  mean.dependence = dependence_of(seconds, precision.confidence);
  set_interval(mean, subsession_half_width(seconds, 1, precision.confidence), precision);
  return mean;
}

MeanTime mean_of(std::span<const UncertainTime> times, const Precision& precision) {
  MeanTime mean{.runs = times.size(), .confidence = precision.confidence};
  if (times.empty()) return mean;
  const Estimates estimates = estimates_of(times);
  const WeightedMean weighted =
      random_effects_mean(estimates.values, estimates.errors, MuchBetterKnown::outweigh_others);
  mean.mean_seconds = weighted.mean;
  const SharedError shared = shared_error_of(estimates, weighted.own_weights);
  mean.floor_below_seconds = precision.shared_error * shared.below;
  mean.floor_above_seconds = precision.shared_error * shared.above;
  if (times.size() < 2) return mean;
  mean.dependence = dependence_of(weighted.standardized, precision.confidence);
  set_interval(mean, student_quantile_of_interval(precision.confidence, weighted.freedom) * weighted.error, precision);
  return mean;
}

}  // namespace halcyon
