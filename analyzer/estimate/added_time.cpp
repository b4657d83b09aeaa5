#include "analyzer/estimate/added_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {
namespace {

constexpr std::size_t values_of_normal = 9;  // Numerics: equally probable ones stand for the law

struct Weighted {
  double seconds;
  double weight;
};

// The weighted quantile of ascending values, whose weights add up to `total`.
double quantile_of(const std::vector<Weighted>& ascending, double total, double probability) {
  double sum = 0.0;
  for (const Weighted& value : ascending) {
    sum += value.weight / total;
    if (sum >= probability) return value.seconds;
  }
  return ascending.empty() ? 0.0 : ascending.back().seconds;
}

}  // namespace

AddedTime added_time(const std::vector<Explanation>& explanations, double mean_duration, double far_out) {
  std::vector<Weighted> values;
  double best = -1e300;
  AddedTime result;
  for (const Explanation& item : explanations) {
    if (item.evidence > best) {
      best = item.evidence;
      result.jitter = item.scale;
    }
  }
  double total = 0.0;
  for (const Explanation& item : explanations) {
    const double weight = std::exp(item.evidence - best);
    total += weight;
    if (!adds_time(item.shape)) {
      values.push_back({far_out, weight});
      continue;
    }
    for (std::size_t i = 0; i < values_of_normal; ++i) {
      const double normal = normal_quantile((static_cast<double>(i) + 0.5) / values_of_normal);
      const double seconds = mean_duration - item.baseline + item.deviation * normal;
      // No more than all of it; the error of a baseline that no duration shows is only nearly normal.
      values.push_back({std::clamp(seconds, far_out, std::max(far_out, mean_duration)), weight / values_of_normal});
    }
  }
  std::sort(values.begin(), values.end(), [](const Weighted& a, const Weighted& b) { return a.seconds < b.seconds; });
  result.low = quantile_of(values, total, 0.5 - interval_confidence / 2.0);
  result.median = quantile_of(values, total, 0.5);
  result.high = quantile_of(values, total, 0.5 + interval_confidence / 2.0);
  return result;
}

}  // namespace halcyon
