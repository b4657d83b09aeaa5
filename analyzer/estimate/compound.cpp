// The method `compound`: what calls took beyond the usual, and laws fitted to the rest of what segments took.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>

#include "analyzer/estimate/compound_poisson.hpp"
#include "analyzer/estimate/discrepancy.hpp"
#include "analyzer/groups/drift.hpp"
#include "analyzer/estimate/estimators.hpp"
#include "analyzer/statistics/parabola.hpp"
#include "analyzer/statistics/sorting.hpp"
#include "analyzer/groups/work_model.hpp"

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

// A fitted group, its segments brought to the same work: what is usual adds up with what calls took beyond it. Seconds
// of a segment, on average.
struct Level {
  std::optional<Durations> factors;  // (segments) by which baselines differ, mean 1: work, drift
  double mean = 0.0;
  double at_full_speed = 0.0;  // the mean
  double median_at_full_speed = 0.0;
  double slowness = 1.0;  // durations on average, in units of those at full speed
  double usual = 0.0;
  double raised = 0.0;             // what slow changes added; not in `usual`
  double raised_by_machine = 0.0;  // of that, with the same work
  double drifted = 0.0;            // what drift added to its lowest; in `usual`
  double far_out = 0.0;            // by which rare segments, far from the others, are longer; in `usual`
  double beyond_usual = 0.0;
  double own_waiting = 0.0;               // of that, what the program's own may be at most
  double variance_beyond_usual = 0.0;     // s^2
  std::vector<Explanation> explanations;  // of what is usual
};

// Of the duration: what calls may take beyond the usual undisturbed. Over a network, messages take a random time by
// themselves, and nothing bounds it.
constexpr double most_own_waiting = 0.06;
constexpr double most_own_waiting_between_hosts = 1.0;
constexpr double sure_own_waiting = 0.01;     // of it: so little is not even told from none
constexpr double likely_own_waiting = 0.012;  // of it
constexpr double missed = 0.03;       // of what calls took beyond the usual: delays too short to be told from it
constexpr double least_usual = 1e-3;  // of the duration

// How much of what calls took beyond the usual the segment took longer: the slope of durations on it, or 1 where this
// is not less for sure. Less of it is on the critical path where a rank that is late anyway has delays, or where
// waiting is random by itself. The longest segments, delayed by what not, are left out.
double share_on_critical_path(const Durations& durations, const Durations& beyond) {
  constexpr double considered = 0.97;
  constexpr double for_sure = 2.0;  // standard errors
  std::vector<double> values(durations.data(), durations.data() + durations.size());
  const double longest = of_rank(values, static_cast<std::size_t>(considered * static_cast<double>(values.size() - 1)));

  double size = 0.0;
  double mean_duration = 0.0;
  double mean_beyond = 0.0;
  const auto for_each_considered = [&](auto&& take) {
    for (Eigen::Index i = 0; i < durations.size(); ++i) {
      if (durations[i] <= longest) take(durations[i], beyond[i]);
    }
  };
  for_each_considered([&](double duration, double waited) {
    size += 1.0;
    mean_duration += duration;
    mean_beyond += waited;
  });
  mean_duration /= size;
  mean_beyond /= size;
  double variation = 0.0;
  double variation_beyond = 0.0;
  double covariation = 0.0;
  for_each_considered([&](double duration, double waited) {
    duration -= mean_duration;
    waited -= mean_beyond;
    variation += duration * duration;
    variation_beyond += waited * waited;
    covariation += duration * waited;
  });
  if (!(variation_beyond > 0.0) || size < 3.0) return 1.0;
  const double slope = covariation / variation_beyond;
  const double residual = std::max(0.0, variation - slope * covariation);
  const double error = std::sqrt(residual / ((size - 2.0) * variation_beyond));
  return std::clamp(slope + for_sure * error, 0.0, 1.0);
}

// Segments that are far from the rest and rare are delayed, whatever law the rest follows: by how much, on average over
// all.
double far_out_of(const Durations& durations) {
  constexpr double far = 8.0;   // spreads above the median
  constexpr double rare = 0.1;  // of the segments
  constexpr double quartile_of_normal = 0.6745;
  const double middle = median(durations);
  const double spread = (middle - lower_quartile(durations)) / quartile_of_normal;
  const double limit = middle + far * std::max(spread, least_usual * middle);
  const Durations beyond = (durations > limit).select(durations - middle, 0.0);
  const auto count = static_cast<double>((beyond > 0.0).count());
  return count <= rare * static_cast<double>(durations.size()) ? beyond.mean() : 0.0;
}

// Waiting that comes in all segments alike may be the program's own; what strikes some of them is not.
double own_waiting_of(const Durations& beyond, double mean, bool is_on_several_hosts) {
  // Of an exponential law, which waiting for the last of many ranks resembles, the mean is 1.44 medians.
  constexpr double mean_by_median = 1.0 / std::numbers::ln2;
  const double common = 1.5 * mean_by_median * std::max(0.0, median(beyond));
  const double most = is_on_several_hosts ? most_own_waiting_between_hosts : most_own_waiting;
  return std::clamp(common, sure_own_waiting * mean, most * mean);
}

// Prior density of jitter of 5 to 20 % against that of less. CPU time shows jitter of computation, which is most of it;
// instructions do not.
constexpr double wide_jitter_of_time = 0.003;
constexpr double wide_jitter_unseen = 0.1;

Level level_of(const JudgedDurations& run, std::size_t group, DurationLaws& laws) {
  const auto seconds = [&](const std::vector<float>& column) {
    const Recorded values = run.of(column, group);
    return Eigen::Map<const Eigen::ArrayXf>(values.data(), static_cast<Eigen::Index>(values.size())).cast<double>();
  };
  Durations usual = seconds(run.durations);
  Durations slowness = Durations::Ones(usual.size());
  if (!run.slowness.empty()) {
    slowness = seconds(run.slowness);
    usual /= slowness;
  }
  Level level;
  const auto divide_by = [&](std::optional<Durations> factors) {
    if (!factors) return;
    usual /= *factors;
    level.factors = level.factors ? *level.factors * *factors : std::move(*factors);
  };
  const bool knows_work = !run.work.empty() && !run.work_is_time;
  if (!run.work.empty()) divide_by(work_factors(usual, seconds(run.work)));
  // CPU time that goes up and down slowly may be more work, or a slower machine.
  if (level.factors && run.work_is_time) level.raised = slow_rise_of(*level.factors) * usual.mean();
  if (std::optional<Durations> drift = drift_of(usual)) {
    level.drifted = 1.0 - drift->minCoeff();
    divide_by(std::move(drift));
  }
  level.mean = (usual * slowness).mean();
  level.at_full_speed = usual.mean();
  level.median_at_full_speed = median(usual);
  level.slowness = slowness.mean();
  level.drifted *= level.at_full_speed;
  if (!run.beyond_usual.empty()) {
    Durations beyond = seconds(run.beyond_usual);
    beyond /= slowness;
    if (level.factors) beyond /= *level.factors;
    beyond *= share_on_critical_path(usual, beyond);
    level.beyond_usual = beyond.mean();
    level.variance_beyond_usual = (beyond - level.beyond_usual).square().mean();
    level.own_waiting = own_waiting_of(beyond, level.at_full_speed, run.is_on_several_hosts);
    usual = (usual - beyond).max(least_usual * usual);
  }
  // A level that is raised for a while, by a neighbour or a lower clock rate, would look like many small delays.
  if (const std::optional<Durations> raised = raised_levels_of(usual)) {
    level.raised += raised->mean();
    if (knows_work) level.raised_by_machine = raised->mean();
    usual -= *raised;
  }
  usual = usual.max(least_usual * level.at_full_speed);
  level.usual = usual.mean();
  level.far_out = far_out_of(usual);
  level.explanations = explain(usual, laws, run.work_is_time ? wide_jitter_of_time : wide_jitter_unseen);
  return level;
}

// What lies above the baseline that leaves the share `added` of the group's time, in proportion; what is no larger than
// the jitter is mostly jitter, and counts less. The excess of each segment is written to `excess`, unless that is
// empty; the durations add up to `seconds`.
GroupEstimate excess_of(Recorded durations, const std::optional<Durations>& factors, double seconds, double added,
                        double jitter, std::span<float> excess) {
  GroupEstimate estimate;
  added = std::min(added, 1.0);  // what calls took is known to a few thousandths
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

// What delays may have added to a segment's calls.
AddedTime added_to_calls(const Level& level, double calls) {
  // Of C calls, each may be struck or not: with the probability p <= 1/2 of either, what N of them took varies by at
  // least E^2 (1 - p) / (C p) >= E^2 / C around its mean E. What varies less is the program's own. For every operation
  // that is counted there may be one that waits for it.
  const double beyond = level.beyond_usual;
  const double random = std::min(beyond, std::sqrt(2.0 * std::max(calls, 1.0) * level.variance_beyond_usual));
  const double least = std::max(0.0, random - level.own_waiting);
  const double likely = random - std::min({0.5 * random, level.own_waiting, likely_own_waiting * level.at_full_speed});
  return {.low = least, .median = likely, .high = beyond * (1.0 + missed)};
}

// Where speed wanders, the full one may lie as far above the highest that was seen as that is above the mean, by its
// factor: of `mean` s, `slowed` are lost against the highest, and so many against the full speed.
double lost_to_full_speed(double slowed, double mean) { return slowed * (2.0 - slowed / mean); }

// What a slower machine may have added to `mean` s, `slowed` of which are lost against the highest speed that was seen.
Interval slowed_interval(double slowed, double mean, SpeedPattern speed) {
  switch (speed) {
    case SpeedPattern::switches: return {slowed, slowed};
    case SpeedPattern::changes_once: return {0.0, slowed};
    case SpeedPattern::wanders: return {0.5 * slowed, lost_to_full_speed(slowed, mean)};
  }
  return {0.0, slowed};
}

// Added to what is usual, and beyond it, of each fitted group. What is unknown of one, above all how single delays are
// distributed, is unknown of the other: the ends of their intervals add up.
std::vector<AddedTime> added_to(std::vector<Level>& levels, const std::vector<double>& calls,
                                const std::vector<std::size_t>& telling, SpeedPattern speed) {
  std::vector<std::vector<Explanation>> explanations;
  for (Level& level : levels) explanations.push_back(std::move(level.explanations));
  share_between_groups(explanations, calls, telling);
  std::vector<AddedTime> added;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    added.push_back(added_time(explanations[i], levels[i].usual, levels[i].far_out));
    const AddedTime to_calls = added_to_calls(levels[i], calls[i]);
    // What changes slowly may be the program's own, or the machine's. Where the work is known not to have changed, and
    // durations go up and down, it is the machine's.
    const double slowed = levels[i].mean - levels[i].at_full_speed;
    const Interval of_speed = slowed_interval(slowed, levels[i].mean, speed);
    added[i].low += to_calls.low + of_speed.low;
    added[i].median += to_calls.median + slowed + levels[i].raised_by_machine;
    added[i].high +=
        to_calls.high + of_speed.high + lost_to_full_speed(levels[i].raised, levels[i].mean) + levels[i].drifted;
  }
  return added;
}

RunEstimate estimate_with(const JudgedDurations& judged, DurationLaws& laws, Detail detail) {
  std::vector<double> seconds;
  for (std::size_t group = 0; group < judged.groups(); ++group) {
    const Recorded durations = judged.of(judged.durations, group);
    seconds.push_back(std::accumulate(durations.begin(), durations.end(), 0.0));
  }
  const Selection selection = select(judged, seconds);
  std::vector<Level> levels;
  std::vector<double> calls;
  for (std::size_t i = 0; i < selection.fitted; ++i) {
    levels.push_back(level_of(judged, selection.by_time[i], laws));
    calls.push_back(judged.calls[selection.by_time[i]]);
  }
  const std::vector<AddedTime> added = added_to(levels, calls, selection.telling, judged.speed_pattern);

  RunEstimate run;
  run.groups.resize(judged.groups());
  if (detail == Detail::segments) run.excess.resize(judged.durations.size());
  const auto excess_of_group = [&](std::size_t group) {
    return run.excess.empty() ? std::span<float>()
                              : std::span(run.excess).subspan(judged.begin[group], judged.size(group));
  };
  double fitted_seconds = 0.0;
  double added_seconds = 0.0;
  for (std::size_t i = 0; i < selection.fitted; ++i) {
    const std::size_t g = selection.by_time[i];
    const double segments = seconds[g] / levels[i].mean;
    run.groups[g] = excess_of(judged.of(judged.durations, g), levels[i].factors, seconds[g],
                              added[i].median / levels[i].mean, added[i].jitter, excess_of_group(g));
    GroupEstimate& group = run.groups[g];
    const auto size = static_cast<double>(judged.size(g));
    group.speed_seconds = std::min(group.excess_seconds,
                                   size * (group.baseline * (levels[i].slowness - 1.0) + levels[i].raised_by_machine));
    group.continuous_seconds =
        continuous_of(size, levels[i].median_at_full_speed, group.baseline, group.excess_seconds - group.speed_seconds);
    // What is unknown of one group is unknown of all.
    run.excess_seconds.low += segments * added[i].low;
    run.excess_seconds.high += segments * added[i].high;
    run.slow_seconds += segments * (levels[i].raised - levels[i].raised_by_machine + levels[i].drifted);
    added_seconds += segments * added[i].median;
    fitted_seconds += seconds[g];
  }
  for (std::size_t i = selection.fitted; i < judged.groups(); ++i) {
    const std::size_t g = selection.by_time[i];
    run.groups[g] = excess_of(judged.of(judged.durations, g), std::nullopt, seconds[g], added_seconds / fitted_seconds,
                              0.0, excess_of_group(g));
    run.groups[g].continuous_seconds =
        continuous_of(static_cast<double>(judged.size(g)), median_of_ascending(judged.of(judged.ascending, g)),
                      run.groups[g].baseline, run.groups[g].excess_seconds);
  }
  if (fitted_seconds > 0.0) {
    const double all_seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    run.excess_seconds.low *= all_seconds / fitted_seconds;
    run.excess_seconds.high *= all_seconds / fitted_seconds;
    double excess = 0.0;
    for (const GroupEstimate& group : run.groups) excess += group.excess_seconds;
    run.excess_seconds.high += judged.perhaps_slow_seconds;
    run.slow_seconds += judged.perhaps_slow_seconds;
    run.excess_seconds = with_discrepancy(run.excess_seconds, excess, judged.run_time);
  }
  return run;
}

}  // namespace

RunEstimate estimate_compound(const JudgedDurations& judged, Detail detail) {
  DurationLaws laws;
  return estimate_with(judged, laws, detail);
}

GroupEstimate estimate_group(Recorded durations, DurationLaws& laws) {
  JudgedDurations run;
  add_group(run, {.durations = durations});
  return estimate_with(run, laws, Detail::groups).groups.front();
}

}  // namespace halcyon
