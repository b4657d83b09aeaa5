#include "analyzer/estimators.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace

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
