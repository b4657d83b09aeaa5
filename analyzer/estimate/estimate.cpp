#include "analyzer/estimate/estimate.hpp"

#include <algorithm>

namespace halcyon {
namespace {

void lower_baseline(GroupEstimate& group, std::size_t segments, double seconds) {
  const double of_segment = seconds / static_cast<double>(segments);
  group.excess_seconds += seconds;
  group.baseline -= of_segment;
  group.threshold -= of_segment;
}

}  // namespace

double continuous_of(double segments, double median, double baseline, double excess_seconds) {
  return std::clamp(segments * (median - baseline), 0.0, std::max(0.0, excess_seconds));
}

void add_slow_ranks(GroupEstimate& group, std::size_t segments, double seconds) {
  lower_baseline(group, segments, seconds);
  group.slow_ranks_seconds += seconds;
}

void add_continuous(GroupEstimate& group, std::size_t segments, double seconds) {
  lower_baseline(group, segments, seconds);
  group.continuous_seconds += seconds;
}

std::span<float> excess_of_group(RunEstimate& estimate, const JudgedDurations& run, std::size_t group) {
  if (estimate.excess.empty()) return {};
  return std::span(estimate.excess).subspan(run.begin[group], run.size(group));
}

double RunEstimate::excess_of_groups() const {
  double seconds = 0.0;
  for (const GroupEstimate& group : groups) seconds += group.excess_seconds;
  return seconds;
}

}  // namespace halcyon
