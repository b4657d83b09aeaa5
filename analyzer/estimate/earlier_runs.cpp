#include "analyzer/estimate/earlier_runs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/statistics/median.hpp"

namespace halcyon {
namespace {

// Keeps this share of the excess, the same of each kind.
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

void add_evenly(RunEstimate& estimate, const JudgedDurations& run, double added_seconds) {
  if (added_seconds <= 0.0) return;
  const std::vector<double> seconds = run.seconds_of_groups();
  const double all_seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (!(all_seconds > 0.0)) return;
  const double share = added_seconds / all_seconds;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    if (!(seconds[group] > 0.0)) continue;
    GroupEstimate& of_group = estimate.groups[group];
    const double more = std::min(share * seconds[group], seconds[group] - of_group.excess_seconds);
    add_continuous(of_group, run.size(group), more);
    if (estimate.excess.empty()) continue;
    for (std::size_t i = run.begin[group]; i < run.begin[group + 1]; ++i) {
      estimate.excess[i] += static_cast<float>(more * static_cast<double>(run.durations[i]) / seconds[group]);
    }
  }
}

void add_rise(RunEstimate& estimate, const JudgedDurations& run, double rise, const Interval& rise_interval) {
  double found = 0.0;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    // A long tail may lift the baseline above the median. Then nothing was found, not a negative amount.
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
  constexpr std::uint64_t fewest_that_contradict = 2;
  Interval interval = estimate.excess_seconds;
  interval.high += std::accumulate(run.perhaps_slow.begin(), run.perhaps_slow.end(), 0.0);
  const bool is_contradicted = interval.low > beyond_interval.high;
  if (is_contradicted && runs < fewest_that_contradict) return;
  // That they were all struck as this one is: the rule of succession, with all shares of such runs as likely before.
  const double weight = 1.0 / static_cast<double>(runs + 1);
  const auto weighed = [&](double seconds) {
    return std::min(seconds, beyond_interval.high) + weight * std::max(0.0, seconds - beyond_interval.high);
  };
  const double found = estimate.excess_of_groups();
  const double low = std::max(is_contradicted ? 0.0 : interval.low, beyond_interval.low);
  const double likely = std::max({weighed(found), beyond, low});
  const double high = is_contradicted ? interval.high : weighed(interval.high);
  estimate.excess_seconds = {low, std::max({high, beyond_interval.high, likely})};
  if (likely >= found) {
    add_evenly(estimate, run, likely - found);
  } else {
    take_in_proportion(estimate, run, likely / found);
  }
}

}  // namespace halcyon
