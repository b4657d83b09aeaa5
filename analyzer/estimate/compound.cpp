#include "analyzer/estimate/compound.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "analyzer/estimate/added_time.hpp"
#include "analyzer/estimate/discrepancy.hpp"
#include "analyzer/estimate/explain.hpp"
#include "analyzer/estimate/converted_group.hpp"
#include "analyzer/estimate/sharing.hpp"
#include "analyzer/statistics/in_parallel.hpp"
#include "analyzer/statistics/median.hpp"

namespace halcyon {
namespace {

// Numerics: groups that hold little of the time are taken to be disturbed like the others: fitting them would cost more
// than it tells.
constexpr double fitted_time = 0.995;
constexpr std::size_t most_fitted_groups = 64;
constexpr std::size_t telling_groups = 8;

// Prior density of jitter of 5 to 20 % against that of less. Most jitter is of computation. CPU time shows it,
// instructions do not.
constexpr double wide_jitter_of_time = 0.003;
constexpr double wide_jitter_unseen = 0.1;

// Which groups are fitted, and which of them tell the others what disturbs them.
struct Selection {
  std::vector<std::size_t> by_time;  // all groups; the first `fitted` are fitted
  std::size_t fitted = 0;
  std::vector<std::size_t> telling;  // places in by_time
};

// Fits the groups that hold the time, and those with the most segments: they show most of the disturbance, however
// short they are.
Selection select(const JudgedDurations& run, const std::vector<double>& seconds) {
  Selection selection;
  std::vector<std::size_t>& by_time = selection.by_time;
  by_time.resize(run.groups());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
  std::vector<std::size_t> by_size = by_time;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return run.size(a) > run.size(b); });
  by_size.resize(std::min(telling_groups, run.groups()));
  std::erase_if(by_size, [&seconds](std::size_t group) { return seconds[group] <= 0.0; });

  const double all_seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  double fitted_seconds = 0.0;
  while (selection.fitted < std::min(most_fitted_groups, run.groups()) && fitted_seconds < fitted_time * all_seconds) {
    fitted_seconds += seconds[by_time[selection.fitted++]];
  }
  for (const std::size_t group : by_size) {
    const auto first_left = by_time.begin() + static_cast<std::ptrdiff_t>(selection.fitted);
    const auto place = std::find(first_left, by_time.end(), group);
    if (place == by_time.end()) continue;
    std::rotate(first_left, place, place + 1);
    ++selection.fitted;
  }
  for (const std::size_t group : by_size) {
    const auto place = std::find(by_time.begin(), by_time.end(), group);
    selection.telling.push_back(static_cast<std::size_t>(place - by_time.begin()));
  }
  return selection;
}

// Divides the share `added` of a group's time among its segments, in proportion to what they take beyond the baseline.
// What is no longer than the jitter is mostly jitter and counts less. The durations add up to `seconds`. The excess of
// each segment is written to `excess`, unless that is empty.
GroupEstimate excess_of(Recorded durations, const std::optional<Durations>& factors, double seconds, double added,
                        double jitter, std::span<float> excess) {
  GroupEstimate estimate;
  added = std::min(added, 1.0);  // what calls took is only known to a few thousandths
  estimate.baseline = seconds / static_cast<double>(durations.size()) * (1.0 - added);
  estimate.threshold = estimate.baseline + disturbed_beyond_spreads * jitter;
  double sum = 0.0;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const double factor = factors ? (*factors)[static_cast<Eigen::Index>(i)] : 1.0;
    const double above = static_cast<double>(durations[i]) - estimate.baseline * factor;
    const double part = above > 0.0 ? above * above / (above + 2.0 * jitter) : 0.0;
    if (!excess.empty()) excess[i] = static_cast<float>(part);
    sum += part;
  }
  if (!(sum > 0.0)) return estimate;
  estimate.excess_seconds = added * seconds;
  for (float& part : excess) part = static_cast<float>(static_cast<double>(part) * estimate.excess_seconds / sum);
  return estimate;
}

// Where the speed wanders, full speed may be above the highest speed seen, by as large a factor as that is above the
// mean. `slowed` of `mean` s are lost against the highest speed seen. Returns the loss against full speed.
double lost_to_full_speed(double slowed, double mean) { return slowed * (2.0 - slowed / mean); }

// What a slower machine may have added. `slowed` of `mean` s are lost against the highest speed seen.
Interval slowed_interval(double slowed, double mean, SpeedPattern speed) {
  switch (speed) {
    case SpeedPattern::switches: return {slowed, slowed};
    case SpeedPattern::changes_once: return {0.0, slowed};
    case SpeedPattern::wanders: return {0.5 * slowed, lost_to_full_speed(slowed, mean)};
  }
  return {0.0, slowed};
}

// Time added to each fitted group: to what is usual, and to what calls took beyond it. Neither is known better than the
// distribution of single delays, which is the same for both: so the ends of their intervals add up.
std::vector<AddedTime> added_to(const std::vector<ConvertedGroup>& groups, const std::vector<double>& calls,
                                const std::vector<std::size_t>& telling, const JudgedDurations& judged,
                                DurationLaws& laws) {
  std::vector<std::vector<Explanation>> explanations(groups.size());
  for_each_in_parallel(groups.size(), [&](std::size_t i) {
    explanations[i] = explain(groups[i].cells, laws, judged.work_is_time ? wide_jitter_of_time : wide_jitter_unseen,
                              judged.is_in_order);
  });
  share_between_groups(explanations, calls, telling);
  std::vector<AddedTime> added(groups.size());
  for_each_in_parallel(groups.size(), [&](std::size_t i) {
    added[i] = added_time(explanations[i], groups[i].usual, groups[i].far_out);
  });
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const AddedTime to_calls = added_to_calls(groups[i].calls, calls[i], groups[i].at_full_speed);
    const double slowed = groups[i].mean - groups[i].at_full_speed;
    const Interval of_speed = slowed_interval(slowed, groups[i].mean, judged.speed_pattern);
    added[i].low += to_calls.low + of_speed.low;
    added[i].median += to_calls.median + slowed;
    added[i].high += to_calls.high + of_speed.high;
  }
  return added;
}

// Sums over the fitted groups.
struct FittedSeconds {
  double seconds = 0.0;
  double added_seconds = 0.0;
};

FittedSeconds estimate_fitted(RunEstimate& run, const JudgedDurations& judged, const std::vector<double>& seconds,
                              const Selection& selection, DurationLaws& laws) {
  std::vector<ConvertedGroup> groups;
  std::vector<double> calls;
  for (std::size_t i = 0; i < selection.fitted; ++i) {
    groups.push_back(converted_group(judged, selection.by_time[i]));
    calls.push_back(judged.calls[selection.by_time[i]]);
  }
  const std::vector<AddedTime> added = added_to(groups, calls, selection.telling, judged, laws);
  FittedSeconds fitted;
  for (std::size_t i = 0; i < selection.fitted; ++i) {
    const std::size_t g = selection.by_time[i];
    const double segments = seconds[g] / groups[i].mean;
    run.groups[g] = excess_of(judged.of(judged.durations, g), groups[i].factors, seconds[g],
                              added[i].median / groups[i].mean, added[i].jitter, excess_of_group(run, judged, g));
    GroupEstimate& group = run.groups[g];
    const auto size = static_cast<double>(judged.size(g));
    group.speed_seconds = std::min(group.excess_seconds, size * group.baseline * (groups[i].slowness - 1.0));
    group.continuous_seconds =
        continuous_of(size, groups[i].median_at_full_speed, group.baseline, group.excess_seconds - group.speed_seconds);
    // Groups share what is unknown of them, so the ends of their intervals add up.
    run.excess_seconds.low += segments * added[i].low;
    run.excess_seconds.high += segments * added[i].high;
    fitted.added_seconds += segments * added[i].median;
    fitted.seconds += seconds[g];
  }
  return fitted;
}

// The other groups are disturbed by the same share of their time.
void estimate_others(RunEstimate& run, const JudgedDurations& judged, const std::vector<double>& seconds,
                     const Selection& selection, double added_share) {
  for (std::size_t i = selection.fitted; i < judged.groups(); ++i) {
    const std::size_t g = selection.by_time[i];
    run.groups[g] = excess_of(judged.of(judged.durations, g), std::nullopt, seconds[g], added_share, 0.0,
                              excess_of_group(run, judged, g));
    run.groups[g].continuous_seconds =
        continuous_of(static_cast<double>(judged.size(g)), median_of_ascending(judged.of(judged.ascending, g)),
                      run.groups[g].baseline, run.groups[g].excess_seconds);
  }
}

}  // namespace

RunEstimate estimate_compound(const JudgedDurations& judged, Detail detail, DurationLaws& laws) {
  const std::vector<double> seconds = judged.seconds_of_groups();
  const Selection selection = select(judged, seconds);
  RunEstimate run;
  run.groups.resize(judged.groups());
  if (detail == Detail::segments) run.excess.resize(judged.durations.size());
  const FittedSeconds fitted = estimate_fitted(run, judged, seconds, selection, laws);
  estimate_others(run, judged, seconds, selection, fitted.added_seconds / fitted.seconds);
  if (!(fitted.seconds > 0.0)) return run;
  const double all_seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  run.excess_seconds.low *= all_seconds / fitted.seconds;
  run.excess_seconds.high *= all_seconds / fitted.seconds;
  run.excess_seconds = with_discrepancy(run.excess_seconds, run.excess_of_groups(), judged.run_time);
  return run;
}

RunEstimate estimate_compound(const JudgedDurations& run, Detail detail) {
  DurationLaws laws;
  return estimate_compound(run, detail, laws);
}

GroupEstimate estimate_group(Recorded durations, DurationLaws& laws) {
  JudgedDurations run;
  add_group(run, {.durations = durations});
  return estimate_compound(run, Detail::groups, laws).groups.front();
}

}  // namespace halcyon
