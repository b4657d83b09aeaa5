#include "analyzer/estimators.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "analyzer/compound_poisson.hpp"
#include "analyzer/drift.hpp"

namespace halcyon {
namespace {

constexpr double disturbed_beyond_spreads = 4.0;  // seed 002: over 99.5 % confidence
constexpr double normal_consistency = 1.4826;     // 1 / Φ⁻¹(3/4): makes a median deviation a standard deviation
constexpr double mode_share = 0.25;               // of the group, in the interval whose centre is the mode

GroupEstimate excess_above(const Durations& durations, double baseline, double threshold, double counted_from) {
  GroupEstimate estimate{baseline, threshold, Durations::Zero(durations.size())};
  estimate.excess = (durations > threshold).select(durations - counted_from, 0.0);
  return estimate;
}

// The interference f = Σe / T is a ratio of two sums over random segments. To first order (the delta method) its error
// is that of Σ(e − f x) / T, in which groups add up: var = Σ_groups n s²(e − f x) / T². The quantile is Student's t
// with one degree of freedom less per judged group than there are judged segments. Baselines are taken as given.
Interval interval_by_delta_method(const std::vector<Durations>& groups, const std::vector<GroupEstimate>& estimates,
                                  double run_time) {
  double excess = 0.0;
  for (const GroupEstimate& estimate : estimates) excess += estimate.excess.sum();
  double variance = 0.0;
  double freedom = 0.0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Durations residual = estimates[g].excess - excess / run_time * groups[g];
    const double size = static_cast<double>(residual.size());
    variance += (residual - residual.mean()).square().sum() * size / (size - 1.0);
    freedom += size - 1.0;
  }
  if (freedom < 1.0) return {0.0, run_time};
  const double quantile = boost::math::quantile(boost::math::students_t(freedom), 0.5 + interval_confidence / 2.0);
  const double half = quantile * std::sqrt(variance);
  return {std::max(0.0, excess - half), std::min(run_time, excess + half)};
}

template <GroupEstimate (*estimate_group)(const Durations&)>
RunEstimate group_by_group(const JudgedDurations& run) {
  RunEstimate estimate;
  for (const Durations& group : run.groups) estimate.groups.push_back(estimate_group(group));
  estimate.excess_seconds = interval_by_delta_method(run.groups, estimate.groups, run.run_time);
  return estimate;
}

// Groups that hold so little of the time share the others' fate: fitting each would cost more than it tells.
constexpr double fitted_time = 0.995;
constexpr std::size_t most_fitted_groups = 64;
constexpr std::size_t telling_groups = 8;

// What lies above the baseline that leaves the share `added` of the group's time, in proportion; what is no larger than
// the jitter is mostly jitter, and counts less.
GroupEstimate excess_of(const Durations& durations, const Durations& drift, double added, double jitter) {
  GroupEstimate estimate;
  const double mean = durations.mean();
  estimate.baseline = mean * (1.0 - added);
  estimate.threshold = estimate.baseline + disturbed_beyond_spreads * jitter;
  const Durations above = (durations - estimate.baseline * drift).max(0.0);
  estimate.excess = (above > 0.0).select(above.square() / (above + 2.0 * jitter), 0.0);
  const double sum = estimate.excess.sum();
  if (sum > 0.0) estimate.excess *= added * mean * static_cast<double>(durations.size()) / sum;
  return estimate;
}

}  // namespace

const std::array<Method, 3> methods{{{"compound", estimate_compound},
                                     {"paper", group_by_group<estimate_paper>},
                                     {"mode", group_by_group<estimate_mode>}}};

double median(Durations values) {
  const Eigen::Index half = values.size() / 2;
  double* const begin = values.data();
  double* const end = begin + values.size();
  std::nth_element(begin, begin + half, end);
  const double upper = values[half];
  return values.size() % 2 == 1 ? upper : 0.5 * (upper + *std::max_element(begin, begin + half));
}

GroupEstimate estimate_paper(const Durations& durations) {
  const double middle = median(durations);
  const double deviation = median((durations - middle).abs());
  const double threshold = middle + disturbed_beyond_spreads * deviation;
  return excess_above(durations, middle, threshold, threshold);
}

GroupEstimate estimate_mode(const Durations& durations) {
  Durations sorted = durations;
  std::sort(sorted.data(), sorted.data() + sorted.size());
  const Eigen::Index held = std::max<Eigen::Index>(2, std::lround(mode_share * static_cast<double>(sorted.size())));
  const Eigen::Index intervals = sorted.size() - held + 1;
  Eigen::Index shortest = 0;
  (sorted.tail(intervals) - sorted.head(intervals)).minCoeff(&shortest);
  const double baseline = 0.5 * (sorted[shortest] + sorted[shortest + held - 1]);
  const auto below = std::lower_bound(sorted.data(), sorted.data() + sorted.size(), baseline) - sorted.data();
  const double spread = below > 0 ? normal_consistency * median(baseline - sorted.head(below)) : 0.0;
  return excess_above(durations, baseline, baseline + disturbed_beyond_spreads * spread, baseline);
}

GroupEstimate estimate_group(const Durations& durations) {
  return methods.front().estimate({{durations}, {0.0}, durations.sum()}).groups.front();
}

RunEstimate estimate_compound(const JudgedDurations& judged) {
  const std::vector<Durations>& groups = judged.groups;
  RunEstimate run;
  run.groups.resize(groups.size());
  std::vector<std::size_t> by_time(groups.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::vector<double> seconds;
  for (const Durations& group : groups) seconds.push_back(group.sum());
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
  const double all_seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);

  // Those that hold the time, and those with the most segments, which know most of the disturbance, however short.
  std::size_t fitted = 0;
  double fitted_seconds = 0.0;
  for (; fitted < std::min(most_fitted_groups, groups.size()) && fitted_seconds < fitted_time * all_seconds; ++fitted) {
    fitted_seconds += seconds[by_time[fitted]];
  }
  const std::size_t telling_count = std::min(telling_groups, groups.size());
  std::vector<std::size_t> by_size = by_time;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return groups[a].size() > groups[b].size(); });
  for (std::size_t i = 0; i < telling_count; ++i) {
    const auto place = std::find(by_time.begin() + static_cast<std::ptrdiff_t>(fitted), by_time.end(), by_size[i]);
    if (place == by_time.end()) continue;
    std::rotate(by_time.begin() + static_cast<std::ptrdiff_t>(fitted), place, place + 1);
    fitted_seconds += seconds[by_size[i]];
    ++fitted;
  }

  DurationLaws laws;
  std::vector<std::vector<Explanation>> explanations;
  std::vector<Durations> drifts;
  std::vector<double> means;  // of the durations without their drift
  for (std::size_t i = 0; i < fitted; ++i) {
    const Durations& group = groups[by_time[i]];
    drifts.push_back(drift_of(group));
    const Durations level = group / drifts.back();
    means.push_back(level.mean());
    explanations.push_back(explain(level, laws));
  }
  std::vector<double> calls;
  for (std::size_t i = 0; i < fitted; ++i) calls.push_back(judged.calls[by_time[i]]);
  std::vector<std::size_t> telling;
  for (std::size_t i = 0; i < telling_count; ++i) {
    const auto place = std::find(by_time.begin(), by_time.end(), by_size[i]);
    telling.push_back(static_cast<std::size_t>(place - by_time.begin()));
  }
  share_between_groups(explanations, calls, telling);

  double added_seconds = 0.0;
  for (std::size_t i = 0; i < by_time.size(); ++i) {
    const std::size_t g = by_time[i];
    if (i >= fitted) {
      run.groups[g] = excess_of(groups[g], Durations::Ones(groups[g].size()), added_seconds / fitted_seconds, 0.0);
      continue;
    }
    const AddedTime added = added_time(explanations[i], means[i]);
    run.groups[g] = excess_of(groups[g], drifts[i], added.median / means[i], added.jitter);
    // What is unknown of one group, above all how single delays are distributed, is unknown of all: the ends of
    // their intervals add up.
    run.excess_seconds.low += seconds[g] * added.low / means[i];
    run.excess_seconds.high += seconds[g] * added.high / means[i];
    added_seconds += seconds[g] * added.median / means[i];
  }
  if (fitted_seconds > 0.0) {
    run.excess_seconds.low *= all_seconds / fitted_seconds;
    run.excess_seconds.high *= all_seconds / fitted_seconds;
  }
  return run;
}

}  // namespace halcyon
