#include "analyzer/estimate/estimators.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr double normal_consistency = 1.4826;  // 1 / Φ⁻¹(3/4): makes a median deviation a standard deviation
constexpr double mode_share = 0.25;            // of the group, in the interval whose centre is the mode

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
  double beyond = 0.0;  // of durations, of the baseline: it is near the mean, so that nothing cancels
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

template <Baseline (*baseline_of)(Recorded ascending)>
RunEstimate group_by_group(const JudgedDurations& run, Detail detail) {
  RunEstimate estimate;
  std::vector<Moments> moments;
  if (detail == Detail::segments) estimate.excess.reserve(run.durations.size());
  for (std::size_t group = 0; group < run.groups(); ++group) {
    const Baseline baseline = baseline_of(run.of(run.ascending, group));
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

// More excess of all groups, in proportion to their time; continuous.
void add_evenly(RunEstimate& estimate, const JudgedDurations& run, double added_seconds) {
  std::vector<double> seconds(run.groups());
  for (std::size_t group = 0; group < run.groups(); ++group) {
    const Recorded durations = run.of(run.durations, group);
    seconds[group] = std::accumulate(durations.begin(), durations.end(), 0.0);
  }
  const double all_seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (!(all_seconds > 0.0) || added_seconds <= 0.0) return;
  const double share = added_seconds / all_seconds;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    if (!(seconds[group] > 0.0)) continue;
    GroupEstimate& of_group = estimate.groups[group];
    const double more = std::min(share * seconds[group], seconds[group] - of_group.excess_seconds);
    of_group.excess_seconds += more;
    of_group.continuous_seconds += more;
    of_group.baseline -= more / static_cast<double>(run.size(group));
    of_group.threshold -= more / static_cast<double>(run.size(group));
    if (estimate.excess.empty()) continue;
    for (std::size_t i = run.begin[group]; i < run.begin[group + 1]; ++i) {
      estimate.excess[i] += static_cast<float>(more * static_cast<double>(run.durations[i]) / seconds[group]);
    }
  }
}

// Leaves this share of the excess, of all kinds alike.
void take_in_proportion(RunEstimate& estimate, const JudgedDurations& run, double share) {
  for (std::size_t group = 0; group < run.groups(); ++group) {
    GroupEstimate& of_group = estimate.groups[group];
    const double risen = (1.0 - share) * of_group.excess_seconds / static_cast<double>(run.size(group));
    of_group.baseline += risen;
    of_group.threshold += risen;
    of_group.excess_seconds *= share;
    of_group.continuous_seconds *= share;
    of_group.speed_seconds *= share;
  }
  for (float& excess : estimate.excess) excess *= static_cast<float>(share);
}

}  // namespace

const std::array<Method, 3> methods{{{"compound", estimate_compound},
                                     {"paper", group_by_group<baseline_paper>},
                                     {"mode", group_by_group<baseline_mode>}}};

Baseline baseline_paper(Recorded ascending) {
  const double middle = median_of_ascending(ascending);
  const double threshold = middle + disturbed_beyond_spreads * median_distance(ascending, middle);
  return {.baseline = middle, .threshold = threshold, .counted_from = threshold};
}

Baseline baseline_mode(Recorded ascending) {
  const auto held =
      static_cast<std::size_t>(std::max(2L, std::lround(mode_share * static_cast<double>(ascending.size()))));
  std::size_t shortest = 0;
  double length = at(ascending, held - 1) - at(ascending, 0);
  for (std::size_t first = 1; first + held <= ascending.size(); ++first) {
    const double other = at(ascending, first + held - 1) - at(ascending, first);
    if (other >= length) continue;
    shortest = first;
    length = other;
  }
  const double baseline = 0.5 * (at(ascending, shortest) + at(ascending, shortest + held - 1));
  const auto end = std::partition_point(ascending.begin(), ascending.end(),
                                        [baseline](float x) { return static_cast<double>(x) < baseline; });
  const Recorded below(ascending.begin(), end);
  const double spread = below.empty() ? 0.0 : normal_consistency * (baseline - median_of_ascending(below));
  return {.baseline = baseline, .threshold = baseline + disturbed_beyond_spreads * spread, .counted_from = baseline};
}

double continuous_of(double segments, double median, double baseline, double excess_seconds) {
  return std::clamp(segments * (median - baseline), 0.0, std::max(0.0, excess_seconds));
}

void add_rise(RunEstimate& estimate, const JudgedDurations& run, double rise, const Interval& rise_interval) {
  double found = 0.0;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    // Where a long tail lifts the baseline above the median, nothing was found, and not less than that.
    const double median_above = median_of_ascending(run.of(run.ascending, group)) - estimate.groups[group].baseline;
    found += static_cast<double>(run.size(group)) * std::max(0.0, median_above);
  }
  const auto beyond_found = [found](double seconds_more) { return std::max(0.0, seconds_more - found); };
  estimate.excess_seconds.low += beyond_found(rise_interval.low);
  estimate.excess_seconds.high += beyond_found(rise_interval.high);
  add_evenly(estimate, run, beyond_found(rise));
}

void weigh_with_known(RunEstimate& estimate, const JudgedDurations& run, double beyond, const Interval& beyond_interval,
                      std::uint64_t runs) {
  constexpr double struck_as_well = 0.5;
  constexpr double least_weight = 0.25;
  constexpr std::uint64_t fewest_that_contradict = 2;
  Interval& interval = estimate.excess_seconds;
  const bool is_contradicted = interval.low > beyond_interval.high;
  if (is_contradicted && runs < fewest_that_contradict) return;
  const double weight = std::max(least_weight, std::pow(struck_as_well, static_cast<double>(runs)));
  const auto weighed = [&](double seconds) {
    return std::min(seconds, beyond_interval.high) + weight * std::max(0.0, seconds - beyond_interval.high);
  };
  double found = 0.0;
  for (const GroupEstimate& group : estimate.groups) found += group.excess_seconds;
  const double low = std::max(is_contradicted ? 0.0 : interval.low, beyond_interval.low);
  const double likely = std::max({weighed(found), beyond, low});
  const double high = is_contradicted ? interval.high : weighed(interval.high);
  interval = {low, std::max({high, beyond_interval.high, likely})};
  estimate.slow_seconds = 0.0;  // slow changes are in what the whole run took
  if (likely >= found) {
    add_evenly(estimate, run, likely - found);
  } else {
    take_in_proportion(estimate, run, likely / found);
  }
}

void add_group(JudgedDurations& run, const RecordedGroup& group) {
  const auto append = [](std::vector<float>& column, Recorded values) {
    column.insert(column.end(), values.begin(), values.end());
  };
  append(run.durations, group.durations);
  append(run.ascending, group.durations);
  sort_ascending(std::span(run.ascending).last(group.durations.size()));
  append(run.beyond_usual, group.beyond_usual);
  append(run.work, group.work);
  run.begin.push_back(run.durations.size());
  run.calls.push_back(group.calls);
}

}  // namespace halcyon
