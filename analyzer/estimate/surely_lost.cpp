#include "analyzer/estimate/surely_lost.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "analyzer/statistics/median.hpp"

namespace halcyon {

namespace {

double sum_of(Recorded values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double median_of(Recorded values) {
  std::vector<float> ascending(values.begin(), values.end());
  std::ranges::sort(ascending);
  return median_of_ascending(ascending);
}

}  // namespace

void raise_to_surely_lost(RunEstimate& estimate, const JudgedDurations& run) {
  double lost_to_waits = 0.0;
  double lost_to_slow_ranks = 0.0;
  double all_excess = 0.0;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    GroupEstimate& of_group = estimate.groups[group];
    const auto add_to_segments = [&](auto seconds_of) {
      for (std::size_t i = 0; !estimate.excess.empty() && i < run.size(group); ++i) {
        estimate.excess[run.begin[group] + i] += static_cast<float>(seconds_of(i));
      }
    };
    if (!run.slow_ranks.empty()) {
      const double typical = median_of(run.of(run.slow_ranks, group));
      const double seconds = typical * static_cast<double>(run.size(group));
      add_slow_ranks(of_group, run.size(group), seconds);
      add_to_segments([typical](std::size_t) { return typical; });
      lost_to_slow_ranks += seconds;
    }
    if (!run.surely_lost.empty()) {
      const Recorded lost = run.of(run.surely_lost, group);
      const double seconds = sum_of(lost);
      lost_to_waits += seconds;
      if (const double more = seconds - of_group.excess_seconds; more > 0.0) {
        add_continuous(of_group, run.size(group), more);
        add_to_segments([&](std::size_t i) { return more * static_cast<double>(lost[i]) / seconds; });
      }
    }
    all_excess += of_group.excess_seconds;
  }
  Interval& interval = estimate.excess_seconds;
  interval.low = std::max(interval.low + lost_to_slow_ranks * run.slow_ranks_interval.low, lost_to_waits);
  interval.high = std::max(interval.high + lost_to_slow_ranks * run.slow_ranks_interval.high, all_excess);
}

double surely_needed_seconds(const JudgedDurations& run) {
  if (!run.work_is_time || run.work.empty()) return 0.0;
  constexpr double seconds_of_work = 1e-9;  // CPU time is in ns
  double seconds = 0.0;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    const Recorded work = run.of(run.work, group);
    seconds +=
        seconds_of_work * static_cast<double>(work.size()) * static_cast<double>(*std::ranges::min_element(work));
  }
  return seconds;
}

}  // namespace halcyon
