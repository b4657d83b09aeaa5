#include "analyzer/estimators.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace halcyon {
namespace {

constexpr double normal_consistency = 1.4826;  // 1 / Φ⁻¹(3/4): makes a median deviation a standard deviation
constexpr double mode_share = 0.25;            // of the group, in the interval whose centre is the mode

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

}  // namespace halcyon
