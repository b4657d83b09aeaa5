#include "analyzer/estimate/baselines.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "analyzer/statistics/median.hpp"

namespace halcyon {
namespace {

double at(Recorded values, std::size_t index) { return static_cast<double>(values[index]); }

// The median of |x - middle|, by the steps outwards from the middle.
double median_distance(Recorded ascending, double middle) {
  const std::size_t half = ascending.size() / 2;
  std::size_t right =
      static_cast<std::size_t>(std::partition_point(ascending.begin(), ascending.end(),
                                                    [middle](float x) { return static_cast<double>(x) < middle; }) -
                               ascending.begin());
  std::size_t left = right;  // one beyond
  double before = 0.0;
  double distance = 0.0;
  for (std::size_t step = 0; step <= half; ++step) {
    before = distance;
    const bool goes_left =
        left > 0 && (right == ascending.size() || middle - at(ascending, left - 1) <= at(ascending, right) - middle);
    distance = goes_left ? middle - at(ascending, --left) : at(ascending, right++) - middle;
  }
  return ascending.size() % 2 == 1 ? distance : 0.5 * (before + distance);
}

// Sums over a group of excess e and durations x: all that the error of the run's excess needs.
struct Moments {
  double size = 0.0;
  double excess = 0.0;
  double variation_excess = 0.0;     // sum of squared distances from the mean
  double variation_durations = 0.0;  // the same
  double covariation = 0.0;          // sum of products of these distances
};

Moments moments_of(Recorded durations, const Baseline& baseline) {
  Moments moments{.size = static_cast<double>(durations.size())};
  double beyond = 0.0;  // distances of durations from the baseline, which is near the mean: nothing cancels
  for (const float recorded : durations) {
    const double duration = static_cast<double>(recorded);
    const double excess = baseline.excess_of(duration);
    const double distance = duration - baseline.baseline;
    beyond += distance;
    moments.excess += excess;
    moments.variation_excess += excess * excess;
    moments.variation_durations += distance * distance;
    moments.covariation += excess * distance;
  }
  moments.variation_excess -= moments.excess * moments.excess / moments.size;
  moments.variation_durations -= beyond * beyond / moments.size;
  moments.covariation -= moments.excess * beyond / moments.size;
  return moments;
}

// The interference f = Σe / T is a ratio of two sums over random segments. To first order (the delta method) its error
// is that of Σ(e − f x) / T, in which groups add up: var = Σ_groups n s²(e − f x) / T². The quantile is Student's t
// with one degree of freedom less per judged group than there are judged segments. Baselines are taken as given.
Interval interval_by_delta_method(const std::vector<Moments>& groups, double run_time) {
  double excess = 0.0;
  for (const Moments& group : groups) excess += group.excess;
  const double share = excess / run_time;
  double variance = 0.0;
  double freedom = 0.0;
  for (const Moments& group : groups) {
    const double variation =
        group.variation_excess + share * (share * group.variation_durations - 2.0 * group.covariation);
    variance += std::max(0.0, variation) * group.size / (group.size - 1.0);
    freedom += group.size - 1.0;
  }
  if (freedom < 1.0) return {0.0, run_time};
  const double quantile = boost::math::quantile(boost::math::students_t(freedom), 0.5 + interval_confidence / 2.0);
  const double half = quantile * std::sqrt(variance);
  return {std::max(0.0, excess - half), std::min(run_time, excess + half)};
}

}  // namespace

Baseline baseline_paper(Recorded ascending) {
  const double middle = median_of_ascending(ascending);
  const double threshold = middle + disturbed_beyond_spreads * median_distance(ascending, middle);
  return {.baseline = middle, .threshold = threshold, .counted_from = threshold};
}

RunEstimate estimate_paper(const JudgedDurations& run, Detail detail) {
  RunEstimate estimate;
  std::vector<Moments> moments;
  if (detail == Detail::segments) estimate.excess.reserve(run.durations.size());
  for (std::size_t group = 0; group < run.groups(); ++group) {
    const Baseline baseline = baseline_paper(run.of(run.ascending, group));
    moments.push_back(moments_of(run.of(run.durations, group), baseline));
    const double excess = moments.back().excess;
    estimate.groups.push_back({.baseline = baseline.baseline,
                               .threshold = baseline.threshold,
                               .excess_seconds = excess,
                               .continuous_seconds = continuous_of(static_cast<double>(run.size(group)),
                                                                   median_of_ascending(run.of(run.ascending, group)),
                                                                   baseline.baseline, excess)});
    if (detail == Detail::groups) continue;
    for (const float duration : run.of(run.durations, group)) {
      estimate.excess.push_back(static_cast<float>(baseline.excess_of(static_cast<double>(duration))));
    }
  }
  estimate.excess_seconds = interval_by_delta_method(moments, run.run_time);
  return estimate;
}

}  // namespace halcyon
