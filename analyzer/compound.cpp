// The method `compound`: what calls took beyond the usual, and laws fitted to the rest of what segments took.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/compound_poisson.hpp"
#include "analyzer/drift.hpp"
#include "analyzer/estimators.hpp"

namespace halcyon {
namespace {

// Groups that hold so little of the time share the others' fate: fitting each would cost more than it tells.
constexpr double fitted_time = 0.995;
constexpr std::size_t most_fitted_groups = 64;
constexpr std::size_t telling_groups = 8;

// Which groups are fitted, and which of them tell the others what disturbs them.
struct Selection {
  std::vector<std::size_t> by_time;  // all groups; the first `fitted` are fitted
  std::size_t fitted = 0;
  std::vector<std::size_t> telling;  // places in by_time
};

// Those that hold the time, and those with the most segments, which know most of the disturbance, however short.
Selection select(const std::vector<Durations>& groups, const std::vector<double>& seconds) {
  Selection selection;
  std::vector<std::size_t>& by_time = selection.by_time;
  by_time.resize(groups.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
  std::vector<std::size_t> by_size = by_time;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return groups[a].size() > groups[b].size(); });
  by_size.resize(std::min(telling_groups, groups.size()));
  std::erase_if(by_size, [&seconds](std::size_t group) { return seconds[group] <= 0.0; });

  const double all_seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  double fitted_seconds = 0.0;
  while (selection.fitted < std::min(most_fitted_groups, groups.size()) && fitted_seconds < fitted_time * all_seconds) {
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

// A fitted group, without its drift: what is usual adds up with what calls took beyond it.
struct Level {
  Durations drift;  // factors
  double mean = 0.0;
  Durations usual;         // s
  double raised = 0.0;     // s, what slow changes added to a segment, on average; not in `usual`
  Durations beyond_usual;  // s; empty where it is not known
};

constexpr double usual_slack = 0.01;  // of the duration: what calls may take beyond the usual undisturbed
constexpr double missed = 0.03;       // of what calls took beyond the usual: delays too short to be told from it
constexpr double least_usual = 1e-3;  // of the duration

// How much of what calls took beyond the usual the segment took longer: the slope of durations on it, or 1 where this
// is not less for sure. Less of it is on the critical path where a rank that is late anyway has delays, or where
// waiting is random by itself. The longest segments, delayed by what not, are left out.
double share_on_critical_path(const Durations& durations, const Durations& beyond) {
  constexpr double considered = 0.97;
  constexpr double for_sure = 2.0;  // standard errors
  std::vector<double> sorted(durations.data(), durations.data() + durations.size());
  const auto longest =
      sorted.begin() + static_cast<std::ptrdiff_t>(considered * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), longest, sorted.end());
  const Durations counts = (durations <= *longest).cast<double>();
  const double size = counts.sum();
  const double mean_duration = (durations * counts).sum() / size;
  const double mean_beyond = (beyond * counts).sum() / size;
  const double variance = ((beyond - mean_beyond).square() * counts).sum();
  if (!(variance > 0.0) || size < 3.0) return 1.0;
  const double slope = ((durations - mean_duration) * (beyond - mean_beyond) * counts).sum() / variance;
  const Durations residual = durations - mean_duration - slope * (beyond - mean_beyond);
  const double error = std::sqrt((residual.square() * counts).sum() / ((size - 2.0) * variance));
  return std::clamp(slope + for_sure * error, 0.0, 1.0);
}

Level level_of(const JudgedDurations& judged, std::size_t group) {
  const Durations& durations = judged.groups[group];
  Level level{.drift = drift_of(durations)};
  level.usual = durations / level.drift;
  level.mean = level.usual.mean();
  if (!judged.beyond_usual.empty()) {
    level.beyond_usual = judged.beyond_usual[group] / level.drift;
    level.beyond_usual *= share_on_critical_path(level.usual, level.beyond_usual);
    level.usual = (level.usual - level.beyond_usual).max(least_usual * level.usual);
  }
  // A level that is raised for a while, by a neighbour or a lower clock rate, would look like many small delays.
  const Durations raised = raised_levels_of(level.usual);
  level.raised = raised.mean();
  level.usual = (level.usual - raised).max(least_usual * level.mean);
  return level;
}

// What lies above the baseline that leaves the share `added` of the group's time, in proportion; what is no larger than
// the jitter is mostly jitter, and counts less.
GroupEstimate excess_of(const Durations& durations, const Durations& drift, double added, double jitter) {
  GroupEstimate estimate;
  const double mean = durations.mean();
  added = std::min(added, 1.0);  // what calls took is known to a few thousandths
  estimate.baseline = mean * (1.0 - added);
  estimate.threshold = estimate.baseline + disturbed_beyond_spreads * jitter;
  const Durations above = (durations - estimate.baseline * drift).max(0.0);
  estimate.excess = (above > 0.0).select(above.square() / (above + 2.0 * jitter), 0.0);
  const double sum = estimate.excess.sum();
  if (sum > 0.0) estimate.excess *= added * mean * static_cast<double>(durations.size()) / sum;
  return estimate;
}

// What delays may have added to a segment's calls.
AddedTime added_to_calls(const Level& level, double calls) {
  if (level.beyond_usual.size() == 0) return {};
  const double beyond = level.beyond_usual.mean();
  // Of C calls, each may be struck or not: with the probability p <= 1/2 of either, what N of them took varies by at
  // least E^2 (1 - p) / (C p) >= E^2 / C around its mean E. What varies less is the program's own. For every operation
  // that is counted there may be one that waits for it.
  const double variance = (level.beyond_usual - beyond).square().mean();
  const double random = std::min(beyond, std::sqrt(2.0 * std::max(calls, 1.0) * variance));
  return {.low = std::max(0.0, random - usual_slack * level.mean), .median = random, .high = beyond * (1.0 + missed)};
}

// Added to what is usual, and beyond it, of each fitted group. What is unknown of one, above all how single delays are
// distributed, is unknown of the other: the ends of their intervals add up.
std::vector<AddedTime> added_to(const std::vector<Level>& levels, const std::vector<double>& calls,
                                const std::vector<std::size_t>& telling, DurationLaws& laws) {
  std::vector<std::vector<Explanation>> explanations;
  for (const Level& level : levels) explanations.push_back(explain(level.usual, laws));
  share_between_groups(explanations, calls, telling);
  std::vector<AddedTime> added;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    added.push_back(added_time(explanations[i], levels[i].usual.mean()));
    const AddedTime to_calls = added_to_calls(levels[i], calls[i]);
    // What is slow may be the program's own, and is not called interference; but it may be.
    added[i].low += to_calls.low;
    added[i].median += to_calls.median;
    added[i].high += to_calls.high + levels[i].raised;
  }
  return added;
}

RunEstimate estimate_with(const JudgedDurations& judged, DurationLaws& laws) {
  const std::vector<Durations>& groups = judged.groups;
  std::vector<double> seconds;
  for (const Durations& group : groups) seconds.push_back(group.sum());
  const Selection selection = select(groups, seconds);
  std::vector<Level> levels;
  std::vector<double> calls;
  for (std::size_t i = 0; i < selection.fitted; ++i) {
    levels.push_back(level_of(judged, selection.by_time[i]));
    calls.push_back(judged.calls[selection.by_time[i]]);
  }
  const std::vector<AddedTime> added = added_to(levels, calls, selection.telling, laws);

  RunEstimate run;
  run.groups.resize(groups.size());
  double fitted_seconds = 0.0;
  double added_seconds = 0.0;
  for (std::size_t i = 0; i < selection.fitted; ++i) {
    const std::size_t g = selection.by_time[i];
    const double segments = seconds[g] / levels[i].mean;
    run.groups[g] = excess_of(groups[g], levels[i].drift, added[i].median / levels[i].mean, added[i].jitter);
    // What is unknown of one group is unknown of all.
    run.excess_seconds.low += segments * added[i].low;
    run.excess_seconds.high += segments * added[i].high;
    run.slow_seconds += segments * levels[i].raised;
    added_seconds += segments * added[i].median;
    fitted_seconds += seconds[g];
  }
  for (std::size_t i = selection.fitted; i < groups.size(); ++i) {
    const std::size_t g = selection.by_time[i];
    run.groups[g] = excess_of(groups[g], Durations::Ones(groups[g].size()), added_seconds / fitted_seconds, 0.0);
  }
  if (fitted_seconds > 0.0) {
    const double all_seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    run.excess_seconds.low *= all_seconds / fitted_seconds;
    run.excess_seconds.high *= all_seconds / fitted_seconds;
  }
  return run;
}

}  // namespace

RunEstimate estimate_compound(const JudgedDurations& judged) {
  DurationLaws laws;
  return estimate_with(judged, laws);
}

GroupEstimate estimate_group(const Durations& durations, DurationLaws& laws) {
  return estimate_with({{durations}, {0.0}, durations.sum()}, laws).groups.front();
}

}  // namespace halcyon
