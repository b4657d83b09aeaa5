#include "analyzer/estimate/call_time.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {
namespace {

// Shares of a segment's duration that calls may take beyond the usual without any disturbance.
constexpr double most_own_waiting = 0.06;
constexpr double unseen_own_waiting = 0.012;  // so little cannot be told from none

// Waiting that comes in all segments alike may be the program's own. Waiting that strikes only some of them is not.
double own_waiting_of(double median_beyond, double mean, bool is_on_several_hosts) {
  // Waiting for the last of many ranks resembles an exponential law, whose mean is 1.44 medians.
  constexpr double mean_by_median = 1.0 / std::numbers::ln2;
  const double common = 1.5 * mean_by_median * std::max(0.0, median_beyond);
  const double most = is_on_several_hosts ? mean : most_own_waiting * mean;
  return std::clamp(common, unseen_own_waiting * mean, most);
}

}  // namespace

CallTime call_time_of(Durations beyond, double duration, bool is_on_several_hosts) {
  CallTime time{.mean = beyond.mean()};
  time.variance = (beyond - time.mean).square().mean();
  time.own_waiting = own_waiting_of(median(std::move(beyond)), duration, is_on_several_hosts);
  return time;
}

double share_on_critical_path(const Durations& durations, const Durations& beyond, double longest) {
  double size = 0.0;
  double mean_duration = 0.0;
  double mean_beyond = 0.0;
  const auto for_each_considered = [&](auto&& take) {
    for (Eigen::Index i = 0; i < durations.size(); ++i) {
      if (durations[i] <= longest) take(durations[i], beyond[i]);
    }
  };
  for_each_considered([&](double duration, double waited) {
    size += 1.0;
    mean_duration += duration;
    mean_beyond += waited;
  });
  mean_duration /= size;
  mean_beyond /= size;
  double variation = 0.0;
  double variation_beyond = 0.0;
  double covariation = 0.0;
  for_each_considered([&](double duration, double waited) {
    duration -= mean_duration;
    waited -= mean_beyond;
    variation += duration * duration;
    variation_beyond += waited * waited;
    covariation += duration * waited;
  });
  if (!(variation_beyond > 0.0) || size < 3.0) return 1.0;
  const double slope = covariation / variation_beyond;
  const double residual = std::max(0.0, variation - slope * covariation);
  const double error = std::sqrt(residual / ((size - 2.0) * variation_beyond));
  return std::clamp(slope + normal_quantile_of_interval() * error, 0.0, 1.0);
}

AddedTime added_to_calls(const CallTime& time, double calls, double duration) {
  // Each of C calls may be struck or not. With a probability p <= 1/2, the time of those that are struck has a variance
  // of at least E^2 (1 - p) / (C p) >= E^2 / C around its mean E. Time that varies less is the program's own. C is
  // twice the counted operations: for each of them there may be one that waits for it.
  const double beyond = time.mean;
  const double random = std::min(beyond, std::sqrt(2.0 * std::max(calls, 1.0) * time.variance));
  const double least = std::max(0.0, random - time.own_waiting);
  const double likely = random - std::min({0.5 * random, time.own_waiting, unseen_own_waiting * duration});
  return {.low = least, .median = likely, .high = beyond};
}

}  // namespace halcyon
