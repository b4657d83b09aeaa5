#include "analyzer/estimate/surely_lost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "analyzer/groups/partition.hpp"
#include "analyzer/statistics/median.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

double median_of(Recorded values) {
  std::vector<float> ascending(values.begin(), values.end());
  sort_ascending(ascending);
  return median_of_ascending(ascending);
}

}  // namespace

void raise_to_surely_lost(RunEstimate& estimate, const JudgedDurations& run) {
  double lost_to_waits = 0.0;
  double lost_to_slow_ranks = 0.0;
  double all_excess = 0.0;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    GroupEstimate& of_group = estimate.groups[group];
    const std::span<float> excess = excess_of_group(estimate, run, group);
    if (!run.slow_ranks.empty()) {
      // What the estimator has found in all segments alike may be the same.
      const double typical =
          median_of(run.of(run.slow_ranks, group)) -
          (of_group.continuous_seconds + of_group.speed_seconds) / static_cast<double>(run.size(group));
      if (typical > 0.0) {
        const double seconds = typical * static_cast<double>(run.size(group));
        add_slow_ranks(of_group, run.size(group), seconds);
        for (float& one : excess) one += static_cast<float>(typical);
        lost_to_slow_ranks += seconds;
      }
    }
    if (!run.surely_lost.empty()) {
      const Recorded lost = run.of(run.surely_lost, group);
      const double seconds = std::accumulate(lost.begin(), lost.end(), 0.0);
      lost_to_waits += seconds;
      if (const double more = seconds - of_group.excess_seconds; more > 0.0) {
        add_continuous(of_group, run.size(group), more);
        // Where it was lost is known then, too, and none lost more than it took.
        if (!excess.empty()) std::ranges::copy(lost, excess.begin());
      }
    }
    all_excess += of_group.excess_seconds;
  }
  Interval& interval = estimate.excess_seconds;
  interval.low = std::max(interval.low + lost_to_slow_ranks * run.slow_ranks_interval.low, lost_to_waits);
  interval.high = std::max(interval.high + lost_to_slow_ranks * run.slow_ranks_interval.high, all_excess);
}

std::vector<double> needed_seconds(const JudgedDurations& run) {
  std::vector<double> seconds(run.groups(), 0.0);
  const std::vector<float>& work = run.largest_work.empty() ? run.work : run.largest_work;
  if (!run.work_is_time || work.empty()) return seconds;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    for (std::size_t i = run.begin[group]; i < run.begin[group + 1]; ++i) {
      const double slowness = run.slowness.empty() ? 1.0 : static_cast<double>(run.slowness[i]);
      const double done = seconds_of_cpu_time * static_cast<double>(work[i]);
      seconds[group] += std::min(done, static_cast<double>(run.durations[i])) / slowness;
    }
  }
  return seconds;
}

double seconds_beyond_least_work(const JudgedDurations& run) {
  double seconds = 0.0;
  for (std::size_t group = 0; !run.work.empty() && group < run.groups(); ++group) {
    const Recorded work = run.of(run.work, group);
    std::vector<float> values(work.begin(), work.end());
    // Not the very least: a segment may have been cut short.
    const auto few = values.begin() + std::min<std::ptrdiff_t>(smallest_judged_group, std::ssize(values)) - 1;
    std::nth_element(values.begin(), few, values.end());
    const float least_work = *few;
    const Recorded durations = run.of(run.durations, group);
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (work[i] > least_work) seconds += static_cast<double>(durations[i] * (1.0F - least_work / work[i]));
    }
  }
  return seconds;
}

void leave_what_is_needed(RunEstimate& estimate, const JudgedDurations& run, std::span<const double> needed_seconds) {
  const std::vector<double> seconds = run.seconds_of_groups();
  for (std::size_t group = 0; group < run.groups(); ++group) {
    GroupEstimate& of_group = estimate.groups[group];
    const double most = std::max(0.0, seconds[group] - needed_seconds[group]);
    if (!(of_group.excess_seconds > most)) continue;
    const double share = most / of_group.excess_seconds;
    const double too_much = of_group.excess_seconds - most;
    for (double* part : {&of_group.excess_seconds, &of_group.continuous_seconds, &of_group.speed_seconds,
                         &of_group.slow_ranks_seconds}) {
      *part *= share;
    }
    of_group.baseline += too_much / static_cast<double>(run.size(group));
    of_group.threshold += too_much / static_cast<double>(run.size(group));
    for (float& one : excess_of_group(estimate, run, group)) one *= static_cast<float>(share);
  }
}

void keep_within_durations(RunEstimate& estimate, const JudgedDurations& run) {
  for (std::size_t group = 0; group < run.groups(); ++group) {
    const std::span<float> excess = excess_of_group(estimate, run, group);
    const Recorded durations = run.of(run.durations, group);
    double too_much = 0.0;
    double room = 0.0;
    for (std::size_t i = 0; i < excess.size(); ++i) {
      const auto left = static_cast<double>(durations[i] - excess[i]);
      (left < 0.0 ? too_much : room) += std::abs(left);
    }
    if (!(too_much > 0.0)) continue;
    const float share = static_cast<float>(std::min(1.0, room > 0.0 ? too_much / room : 0.0));
    for (std::size_t i = 0; i < excess.size(); ++i) {
      const float left = durations[i] - excess[i];
      excess[i] += left < 0.0F ? left : share * left;
    }
  }
}

}  // namespace halcyon
