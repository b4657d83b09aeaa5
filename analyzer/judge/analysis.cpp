#include "analyzer/judge/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>
#include <initializer_list>
#include <numeric>
#include <span>
#include <utility>

#include "analyzer/estimate/earlier_runs.hpp"
#include "analyzer/known/known_runs.hpp"

namespace halcyon {
namespace {

constexpr double good_coverage_percent = 90.0;
// Below, the mean of the excess is not yet near normal and its interval means nothing (the usual rule of thumb).
constexpr std::uint64_t fewest_judged_segments = 30;
// Of a shorter run, what separates green from yellow is no more than one delay: a time slice that another process had,
// or a write that the kernel put off.
constexpr double shortest_judged_seconds = 1.0;
// Recording must stay a tenth of what separates green from yellow even if it all fell on the critical path.
constexpr double most_cost_of_recording_percent = green_below_percent / 10.0;
constexpr double noticeable_slow_changes_percent = green_below_percent / 2.0;
// A duration read to a hundredth still tells a jitter of a few percent from none.
constexpr double fewest_clock_steps_in_a_segment = 100.0;

std::string words_of_missing_boundaries(const Profile& profile) {
  if (profile.boundary == "pcontrol") return "no MPI_Pcontrol(1) marked its steps";
  if (profile.boundary == "rooted")
    return "no reduce or gather over all ranks and a bcast or scatter behind it was seen";
  const auto were_made = [&profile](Feature collectives) {
    const std::vector<std::uint64_t>& by_rank = profile.totals[index_of(collectives)];
    return std::any_of(by_rank.begin(), by_rank.end(), [](std::uint64_t count) { return count > 0; });
  };
  return were_made(Feature::collectives_all_to_all) ? "its all-to-all collectives were over fewer ranks than the world"
                                                    : "no all-to-all collective over all ranks was seen, nor a reduce "
                                                      "or gather and a bcast or scatter behind it";
}

std::optional<Warning> reason_for_unknown(const Profile& profile, const Analysis& analysis) {
  if (!profile.disagreement.empty()) {
    return Warning{"boundary-disagreement", "the ranks' boundaries differ: " + profile.disagreement};
  }
  if (profile.segments <= 1) {
    return Warning{"no-boundaries", "the program has no boundaries: " + words_of_missing_boundaries(profile)};
  }
  if (analysis.coverage_percent < least_coverage_percent) {
    return Warning{"low-coverage",
                   fmt::format("only {:.2g} % of the run time lies in segments that repeat often enough to be judged; "
                               "{:.0f} % are needed",
                               analysis.coverage_percent, least_coverage_percent)};
  }
  if (analysis.judged_segments < fewest_judged_segments) {
    return Warning{"too-few-segments", fmt::format("only {} segments repeat often enough to be judged; {} are needed",
                                                   analysis.judged_segments, fewest_judged_segments)};
  }
  if (profile.run_time_seconds < shortest_judged_seconds) {
    return Warning{"too-short",
                   fmt::format("it ran {:.2g} s, and {:.0f} s are needed: a single delay of {:.2g} ms, as any system "
                               "has now and then, would decide the verdict",
                               profile.run_time_seconds, shortest_judged_seconds,
                               10.0 * green_below_percent * profile.run_time_seconds)};
  }
  if (!profile.composed_of.empty()) {
    return Warning{"composed",
                   fmt::format("these are the times of no single run: composed of {}, and undisturbed by its "
                               "making",
                               fmt::join(profile.composed_of, ", "))};
  }
  return std::nullopt;
}

// MPI and file operations in a segment, over all ranks.
double calls_of(const Profile& profile, std::size_t segment) {
  double calls = 0.0;
  for (const FeatureInfo& info : features) {
    const FeatureColumn& column = profile.features[index_of(info.feature)];
    if (info.kind == FeatureKind::count && !column.bins.empty()) calls += column.bins[column.bin_of(segment)];
  }
  return calls;
}

std::vector<float> seconds_of(const std::vector<float>& column, std::span<const std::uint32_t> members) {
  std::vector<float> values;
  values.reserve(members.size());
  for (const std::uint32_t segment : members) values.push_back(column[segment]);
  return values;
}

JudgedDurations judged_durations(const Profile& profile, const Grouping& grouping,
                                 const std::vector<JudgedGroup>& judged) {
  JudgedDurations run{.run_time = profile.run_time_seconds,
                      .work_is_time = profile.counter == "cpu",
                      .is_on_several_hosts = profile.hosts().size() > 1};
  const FeatureColumn& compute = work_of(profile, grouping);
  const bool counts_work = compute.bins.size() > 1;
  run.perhaps_slow_seconds = grouping.perhaps_slow_seconds;
  if (grouping.speeds) run.speed_pattern = grouping.speeds->pattern;
  std::size_t segments = 0;
  for (const JudgedGroup& group : judged) segments += grouping.members(group.group).size();
  run.durations.reserve(segments);
  run.ascending.reserve(segments);
  if (!profile.calls_beyond_usual.empty()) run.beyond_usual.reserve(segments);
  if (counts_work) run.work.reserve(segments);
  for (const JudgedGroup& group : judged) {
    const std::span<const std::uint32_t> members = grouping.members(group.group);
    std::vector<float> beyond_usual;
    if (!profile.calls_beyond_usual.empty()) beyond_usual = seconds_of(profile.calls_beyond_usual, members);
    std::vector<float> work;
    if (counts_work) {
      for (const std::uint32_t segment : members)
        work.push_back(static_cast<float>(compute.bins[compute.bin_of(segment)]));
    }
    if (grouping.speeds) {
      for (const std::uint32_t segment : members) run.slowness.push_back(grouping.speeds->slowness[segment]);
    }
    const std::vector<float> durations = durations_of(profile, members);
    add_group(run, {durations, beyond_usual, work, calls_of(profile, members.front())});
  }
  return run;
}

// All methods at once, each on a thread of its own: they share nothing but what they read.
std::vector<std::future<RunEstimate>> start_estimates(const JudgedDurations& judged, std::string_view method,
                                                      std::span<const Method> candidates) {
  std::vector<std::future<RunEstimate>> estimates;
  for (const Method& candidate : candidates) {
    estimates.push_back(std::async(std::launch::async, candidate.estimate, std::cref(judged),
                                   candidate.name == method ? Detail::segments : Detail::groups));
  }
  return estimates;
}

// From the order of the judged groups back to the order of time; nothing where no group is judged.
std::vector<float> by_segment(const Grouping& grouping, const std::vector<JudgedGroup>& judged,
                              const std::vector<float>& values) {
  std::vector<float> result(grouping.groups.of.size(), 0.0F);
  auto value = values.begin();
  for (const JudgedGroup& group : judged) {
    for (const std::uint32_t segment : grouping.members(group.group)) result[segment] = *value++;
  }
  return result;
}

bool spans_all_classes(const Interval& percent) {
  return verdict_of(percent.low) == Verdict::green && verdict_of(percent.high) == Verdict::red;
}

// The slowest of some probes, if it is slow.
std::optional<std::string> slow_words(const Analysis& analysis, std::initializer_list<Probe> probes) {
  std::optional<std::string> words;
  double slowest = least_speed_percent;
  for (const Probe probe : probes) {
    const std::optional<ProbeDisplacement>& displacement = analysis.probes[index_of(probe)];
    if (!displacement || displacement->speed_percent() >= slowest) continue;
    slowest = displacement->speed_percent();
    words = fmt::format("{} on {} had {:.0f} % of the best known speed, before and after the run",
                        probe_infos[index_of(probe)].words, displacement->host, slowest);
  }
  return words;
}

void add_warnings(const Profile& profile, Analysis& analysis) {
  if (analysis.unknown) analysis.warnings.push_back(*analysis.unknown);
  const auto warn = [&analysis](const char* code, std::string message) {
    analysis.warnings.push_back({code, std::move(message)});
  };
  if (profile.composed_of.empty() && profile.exit_state != "finalized") {
    warn("incomplete-run", "the run did not reach MPI_Finalize (" + profile.exit_state +
                               "): this is what it had recorded" +
                               (profile.incomplete.empty() ? "" : "; " + profile.incomplete));
  }
  if (profile.dropped_segments > 0) {
    warn("segments-dropped", fmt::format("{} segments fitted neither into the memory setting nor onto the disk and are "
                                         "not in the profile: raise HALCYON_MEMORY",
                                         profile.dropped_segments));
  }
  if (analysis.segment_rate_hz > 0.0) {
    const double cost_percent = 100.0 * analysis.segment_rate_hz * profile.boundary_cost_seconds;
    if (cost_percent > most_cost_of_recording_percent) {
      warn("boundary-rate",
           fmt::format("{:.0f} boundaries a second: recording them took up to {:.1f} % of the run time",
                       analysis.segment_rate_hz, cost_percent));
    }
    if (analysis.segment_rate_hz * profile.clock_resolution_seconds * fewest_clock_steps_in_a_segment > 1.0) {
      warn("clock-resolution", fmt::format("segments of {:.3g} s are too short for a clock that steps by {:.3g} s",
                                           1.0 / analysis.segment_rate_hz, profile.clock_resolution_seconds));
    }
  }
  if (!analysis.unknown && analysis.coverage_percent < good_coverage_percent) {
    warn("partial-coverage",
         fmt::format("{:.0f} % of the run time lies in segments that do not repeat; what happened there is not known",
                     100.0 - analysis.coverage_percent));
  }
  if (!analysis.unknown && analysis.slow_percent > noticeable_slow_changes_percent) {
    warn("slow-changes",
         fmt::format(
             "a further {:.1f} % of the time went up and down slowly with segments of the same work. This may be the "
             "machine, or the program itself: it widens the interval and is not in the percentage",
             analysis.slow_percent));
  }
  if (const std::optional<KnownRuns>& known = analysis.known_runs; known && profile.run_time_seconds > 0.0) {
    const bool is_of_parts = known->of_parts && !knows_groups(*known, profile);
    const double seconds = is_of_parts ? known->of_parts->beyond_seconds : known->displacement_seconds;
    const double low = is_of_parts ? known->of_parts->low_seconds : known->low_seconds;
    const double percent = 100.0 * seconds / profile.run_time_seconds;
    if (percent > noticeable_slow_changes_percent && low > 0.0) {
      warn("slower-than-known",
           fmt::format("{:.1f} % of the time lies above the best {} of {} known {} of this work{}", percent,
                       is_of_parts ? "times" : "medians", known->runs, known->runs == 1 ? "run" : "runs",
                       is_of_parts ? "" : ": whatever slowed all of it down evenly"));
    }
  }
  if (const auto words = slow_words(analysis, {Probe::registers})) warn("slow-registers", *words);
  if (const auto words = slow_words(analysis, {Probe::l2})) warn("slow-l2", *words);
  if (const auto words = slow_words(analysis, {Probe::memory_latency, Probe::memory_bandwidth})) {
    warn("slow-memory", *words);
  }
  if (profile.counter == "none" && profile.segments > 1) {
    warn("no-counter", "without a compute feature, segments of different work may share a group");
  }
}

}  // namespace

const JudgedGroup* Analysis::judged_group(std::uint32_t group) const {
  const auto found = std::lower_bound(judged.begin(), judged.end(), group,
                                      [](const JudgedGroup& one, std::uint32_t number) { return one.group < number; });
  return found != judged.end() && found->group == group ? &*found : nullptr;
}

Interval Analysis::undisturbed_interval_seconds() const {
  const Interval& percent = result().interval_percent;
  return {run_time_seconds * (1.0 - 0.01 * percent.high), run_time_seconds * (1.0 - 0.01 * percent.low)};
}

Analysis analyze(const Profile& profile, std::string_view method, std::span<const Method> candidates) {
  return analyze(profile, group_segments(profile), method, candidates);
}

Analysis analyze(const Profile& profile, const Grouping& grouping, std::string_view method,
                 std::span<const Method> candidates) {
  Analysis analysis;
  analysis.segments = profile.segments;
  analysis.clusters = grouping.clusters;
  analysis.groups = grouping.groups.count;
  analysis.run_time_seconds = profile.run_time_seconds;
  if (profile.run_time_seconds > 0.0) {
    analysis.segment_rate_hz = static_cast<double>(profile.segments) / profile.run_time_seconds;
  }

  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    if (grouping.members(group).size() >= smallest_judged_group) analysis.judged.push_back({.group = group});
  }
  const JudgedDurations judged = judged_durations(profile, grouping, analysis.judged);
  analysis.judged_segments = judged.durations.size();
  const double judged_seconds = std::accumulate(judged.durations.begin(), judged.durations.end(), 0.0);
  if (profile.run_time_seconds > 0.0) {
    analysis.coverage_percent = std::min(100.0, 100.0 * judged_seconds / profile.run_time_seconds);
  }
  analysis.unknown = reason_for_unknown(profile, analysis);
  analysis.known_runs = profile.known_runs;
  analysis.probes = probe_displacement(profile);

  std::vector<std::future<RunEstimate>> estimates;  // none of a run that took no time
  if (profile.run_time_seconds > 0.0) estimates = start_estimates(judged, method, candidates);
  for (const Method& candidate : candidates) {
    const bool is_chosen = candidate.name == method;
    if (is_chosen) analysis.chosen = analysis.methods.size();
    MethodResult result{.name = candidate.name};
    if (!estimates.empty()) {
      RunEstimate estimate = estimates[analysis.methods.size()].get();
      // The other methods stay as they were published.
      if (candidate.name == methods.front().name) {
        if (const std::optional<KnownRuns>& known = profile.known_runs) {
          if (const auto& parts = known->of_parts) {
            weigh_with_known(estimate, judged, parts->beyond_seconds, {parts->low_seconds, parts->high_seconds},
                             parts->runs);
          } else {
            add_rise(estimate, judged, known->displacement_seconds, {known->low_seconds, known->high_seconds});
          }
        } else {
          // Nothing else tells what the slowness that probes saw has cost this program.
          estimate.excess_seconds.high +=
              perhaps_lost_share(analysis.probes) * std::max(0.0, judged_seconds - estimate.excess_seconds.high);
        }
        // Others had the CPU: where they had it all the time, durations do not show it.
        if (!has_more_ranks_than_cores(profile)) {
          estimate.excess_seconds.high =
              std::max(estimate.excess_seconds.high, std::min(judged_seconds, longest_wait_for_cpu(profile)));
        }
      }
      const auto percent = [&](double seconds) {
        return 100.0 * std::clamp(seconds / profile.run_time_seconds, 0.0, 1.0);
      };
      double continuous_seconds = 0.0;
      double speed_seconds = 0.0;
      for (std::size_t g = 0; g < judged.groups(); ++g) {
        const GroupEstimate& group = estimate.groups[g];
        result.excess_seconds += group.excess_seconds;
        continuous_seconds += group.continuous_seconds;
        speed_seconds += group.speed_seconds;
        if (!is_chosen) continue;
        analysis.judged[g].baseline_seconds = group.baseline;
        analysis.judged[g].threshold_seconds = group.threshold;
      }
      if (is_chosen) analysis.excess = by_segment(grouping, analysis.judged, estimate.excess);
      result.interference_percent = percent(result.excess_seconds);
      result.continuous_percent = percent(continuous_seconds);
      result.speed_percent = percent(speed_seconds);
      if (is_chosen) analysis.slow_percent = percent(estimate.slow_seconds);
      // What a run lost in segments that are not judged can be no excess of those that are.
      result.interval_percent = {std::min(percent(estimate.excess_seconds.low), result.interference_percent),
                                 std::max(percent(estimate.excess_seconds.high), result.interference_percent)};
    }
    result.probability_high = probability_high(result.interference_percent);
    const bool says_nothing = analysis.unknown || spans_all_classes(result.interval_percent);
    result.verdict = says_nothing ? Verdict::unknown : verdict_of(result.interference_percent);
    analysis.methods.push_back(result);
  }
  analysis.excess.resize(profile.segments);  // of a run that took no time, nothing is known
  analysis.attribution = attribute(profile, grouping, analysis.excess);
  analysis.spent = time_spent(profile);
  if (!analysis.unknown && analysis.result().verdict == Verdict::unknown) {
    analysis.unknown = Warning{
        "wide-interval", fmt::format("the interference lies between {:.1f} and {:.1f} %: too wide for a verdict",
                                     analysis.result().interval_percent.low, analysis.result().interval_percent.high)};
  }
  if (!profile.injected.critical.empty() && profile.run_time_seconds > 0.0) {
    double critical = 0.0;
    for (const float seconds : profile.injected.critical) critical += static_cast<double>(seconds);
    analysis.injected_percent = 100.0 * critical / profile.run_time_seconds;
  }
  add_warnings(profile, analysis);
  analysis.cause = likely_cause(profile, grouping, analysis);
  return analysis;
}

}  // namespace halcyon
