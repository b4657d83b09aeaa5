#include "analyzer/judge/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "analyzer/evidence/cpu_waits.hpp"
#include "analyzer/groups/grouping.hpp"
#include "analyzer/judge/analysis.hpp"
#include "analyzer/known/known_displacement.hpp"
#include "libprofile/format/boundary.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon {
namespace {

constexpr double good_coverage_percent = 100.0 - green_below_percent;
// s. In a shorter run, a single time slice that another process gets, of 4 ms as a rule, takes half of the green range.
constexpr double shortest_judged_seconds = 0.1;
// Even if all of it is on the critical path, recording must cost at most a tenth of what separates green from yellow.
constexpr double most_cost_of_recording_percent = green_below_percent / 10.0;
constexpr double noticeable_percent = green_below_percent / 2.0;  // of the run time
// A duration measured to one percent still tells a jitter of a few percent from none.
constexpr double fewest_clock_steps_in_a_segment = 100.0;

bool were_made(const Profile& profile, Feature calls) {
  const std::vector<std::uint64_t>& by_rank = profile.totals[index_of(calls)];
  return std::any_of(by_rank.begin(), by_rank.end(), [](std::uint64_t count) { return count > 0; });
}

std::string words_of_missing_calls(const Profile& profile) {
  if (profile.boundary == name_of(BoundaryChoice::pcontrol)) return "no MPI_Pcontrol(1) marked its steps";
  if (profile.boundary == name_of(BoundaryChoice::rooted))
    return "it called no reduce or gather over all ranks followed by a bcast or scatter";
  return were_made(profile, Feature::collectives_all_to_all)
             ? "its all-to-all collectives covered fewer ranks than the whole world"
             : "it called no all-to-all collective over all ranks, and no reduce "
               "or gather followed by a bcast or scatter";
}

std::string words_of_no_boundaries(const Profile& profile) {
  return "the program has no boundaries: " + words_of_missing_calls(profile);
}

bool has_communication(const Profile& profile) {
  constexpr std::array counted{Feature::sends_blocking,         Feature::sends_nonblocking,
                               Feature::receives_blocking,      Feature::receives_nonblocking,
                               Feature::collectives_one_to_all, Feature::collectives_all_to_one,
                               Feature::collectives_all_to_all, Feature::rma_operations};
  return std::any_of(counted.begin(), counted.end(), [&profile](Feature feature) {
    return profile.totals[index_of(feature)].empty() || were_made(profile, feature);
  });
}

// The slowest of some probes, if it is slow.
std::optional<std::string> slow_words(const Analysis& analysis, std::initializer_list<Probe> probes) {
  std::optional<std::string> words;
  double slowest = least_speed_percent;
  for (const Probe probe : probes) {
    const std::optional<ProbeDisplacement>& displacement = analysis.probes[index_of(probe)];
    if (!displacement || displacement->speed_percent() >= slowest) continue;
    slowest = displacement->speed_percent();
    words = fmt::format("{} on {} had only {:.0f} % of {} best known speed before and after the run",
                        probe_infos[index_of(probe)].words, displacement->host, slowest,
                        probe == Probe::registers ? "their" : "its");
  }
  return words;
}

using Warnings = std::vector<Warning>;  // made by braces: clang before 16 makes no aggregate in place

// What is missing of the run, and what recording it cost.
void warn_of_recording(const Profile& profile, const Analysis& analysis, Warnings& warnings) {
  if (profile.composed_of.empty() && profile.exit_state != "finalized") {
    warnings.push_back({"incomplete-run", "the run did not reach MPI_Finalize (" + profile.exit_state +
                                              "): the profile has what was recorded until then" +
                                              (profile.incomplete.empty() ? "" : "; " + profile.incomplete)});
  }
  const bool is_finalized = profile.exit_state == "finalized";
  if (is_finalized && !profile.incomplete.empty()) {
    warnings.push_back({"bypassed-calls", profile.incomplete});
  } else if (is_finalized && profile.segments <= 1 && !has_communication(profile)) {
    warnings.push_back(
        {"bypassed-calls", "no communication was recorded: the program has none, or it bypassed the recorder"});
  }
  if (profile.dropped_segments > 0) {
    warnings.push_back({"segments-dropped", fmt::format("the profile lacks {}: neither memory nor disk had room",
                                                        plural(profile.dropped_segments, "segment"))});
  }
  if (profile.segments > 1 && analysis.segment_rate_hz > 0.0) {
    const double cost_percent = std::min(100.0, 100.0 * analysis.segment_rate_hz * profile.boundary_cost_seconds);
    if (cost_percent > most_cost_of_recording_percent) {
      warnings.push_back({"boundary-rate",
                          fmt::format("{:.0f} boundaries a second: recording them took up to {:.1f} % of the run time",
                                      analysis.segment_rate_hz, cost_percent)});
    }
    if (analysis.segment_rate_hz * profile.clock_resolution_seconds * fewest_clock_steps_in_a_segment > 1.0) {
      warnings.push_back(
          {"clock-resolution", fmt::format("segments of {:.3g} s are too short for a clock with steps of {:.3g} s",
                                           1.0 / analysis.segment_rate_hz, profile.clock_resolution_seconds)});
    }
  }
}

// What the kernel counted is known of any program, but it does not show delays in waits.
void warn_of_little_that_repeats(const Profile& profile, const Analysis& analysis, Warnings& warnings) {
  if (!analysis.has_estimate() || analysis.accounted_percent < least_coverage_percent) return;
  constexpr const char* known = "what was lost is known only as far as the kernel counted it";
  warnings.push_back(
      {"little-repeats", profile.segments <= 1
                             ? fmt::format("{}: {}", words_of_no_boundaries(profile), known)
                             : fmt::format("segments that repeat take only {:.0f} % of the run time. In the rest, {}",
                                           analysis.coverage_percent - analysis.accounted_percent, known)});
}

// Each part that matters, with its seconds.
void warn_of_own_doing(const Analysis& analysis, Warnings& warnings) {
  if (analysis.no_verdict || !analysis.result().may_be_own) return;
  std::vector<std::string> parts;
  const auto add = [&](double seconds, const char* what) {
    if (seconds > (1.0 - nearly_whole) * analysis.undecided.seconds())
      parts.push_back(fmt::format("{:.2g} s {}", seconds, what));
  };
  add(analysis.undecided.slept_seconds,
      "the threads that end segments slept or waited outside calls of MPI, files and devices");
  add(analysis.undecided.spun_seconds, "the threads that call MPI used the CPU longer than other busy threads");
  add(analysis.undecided.crowded_seconds, "ranks and threads of the run waited for cores that others of it had");
  add(analysis.undecided.children_seconds, "ranks waited for cores, which their child processes may have had");
  add(analysis.undecided.slower_seconds, "computation was slower, or there was more of it");
  add(analysis.undecided.device_seconds, "devices took longer, or had more to do");
  add(analysis.undecided.waited_seconds, "ranks waited in calls of MPI, perhaps for one of which nothing was saved");
  warnings.push_back({"perhaps-own", fmt::format("what was lost may be the program's own doing: for {}",
                                                 fmt::join(parts, ", and for "))});
}

// Also of a green run: waits that are the same in all segments do not disturb it, but they make it slow.
void warn_of_crowded_cores(const Profile& profile, Warnings& warnings) {
  const double waited = waited_for_own_threads(profile);
  if (waited < 0.01 * noticeable_percent * profile.run_time_seconds) return;
  const std::optional<CrowdedCores> crowded = crowded_cores(profile);
  warnings.push_back(
      {"crowded-cores",
       fmt::format(
           "{}: they waited up to {:.2g} s for cores that others of the run had. Give each of them a core of its "
           "own ({})",
           crowded ? in_words(*crowded, profile) : "more ranks than cores", waited,
           crowded && crowded->bound_rank ? "mpirun --map-by slot:PE=THREADS, srun --cpus-per-task"
                                          : "fewer ranks, or fewer threads")});
}

void warn_of_slower_than_known(const Profile& profile, const Analysis& analysis, Warnings& warnings) {
  if (const std::optional<KnownRuns>& known = analysis.known_runs; known && profile.run_time_seconds > 0.0) {
    const bool is_of_parts = known->of_parts && !knows_groups(*known, profile);
    const double seconds = is_of_parts ? known->of_parts->beyond_seconds : known->displacement_seconds;
    const double low = is_of_parts ? known->of_parts->low_seconds : known->low_seconds;
    const double percent = std::min(100.0, 100.0 * seconds / profile.run_time_seconds);
    if (percent > noticeable_percent && low > 0.0) {
      warnings.push_back({"slower-than-known",
                          fmt::format("the {} of this run are noticeably above the best of {} of this work{}",
                                      is_of_parts ? "times of the parts" : "medians", plural(known->runs, "known run"),
                                      is_of_parts ? "" : ": something slowed all of it down evenly")});
    }
  }
}

}  // namespace

std::optional<NoVerdict> no_verdict_of(const Profile& profile, const Coverage& coverage, bool is_accounted) {
  if (!profile.disagreement.empty()) {
    return NoVerdict{{"boundary-disagreement", "the ranks' boundaries differ: " + profile.disagreement}};
  }
  const bool are_few = coverage.judged_segments < fewest_judged_segments;
  if (coverage.percent < least_coverage_percent || (are_few && !is_accounted)) {
    if (profile.segments <= 1 && !profile.incomplete.empty()) {
      return NoVerdict{{"no-segments", "no segments were saved that can be judged: " + profile.incomplete}};
    }
    if (profile.segments <= 1) {
      return NoVerdict{{"no-boundaries", words_of_no_boundaries(profile)}};
    }
    if (are_few) {
      return NoVerdict{{"too-few-segments", fmt::format("too short: {} segments repeat, {} are needed",
                                                        coverage.judged_segments, fewest_judged_segments)}};
    }
    return NoVerdict{
        {"low-coverage", fmt::format("of only {:.2g} % of the run time it is known whether it was lost; {:.0f} % are "
                                     "needed: the rest does not repeat, and ranks did not compute in it",
                                     coverage.percent, least_coverage_percent)}};
  }
  if (profile.run_time_seconds < shortest_judged_seconds) {
    return NoVerdict{
        .reason = {"too-short",
                   fmt::format("it ran for {:.2g} s, and at least {:.1g} s are needed: a single time slice "
                               "that another process gets would decide the verdict",
                               profile.run_time_seconds, shortest_judged_seconds)},
        .has_estimate = true};
  }
  if (!profile.composed_of.empty()) {
    return NoVerdict{.reason = {"composed", fmt::format("the profile is composed of {}: it is not one run, and it is "
                                                        "undisturbed by construction",
                                                        fmt::join(profile.composed_of, ", "))},
                     .is_comparable = true};
  }
  return std::nullopt;
}

NoVerdict no_verdict_within(const Interval& percent) {
  return {
      .reason = {"wide-interval", fmt::format("between {:.1f} and {:.1f} % came from outside: this run cannot say more",
                                              percent.low, percent.high)},
      .has_estimate = true,
      .is_comparable = true};
}

std::vector<Warning> warnings_of(const Profile& profile, const Analysis& analysis) {
  Warnings warnings;
  if (analysis.no_verdict) warnings.push_back(analysis.no_verdict->reason);
  warn_of_recording(profile, analysis, warnings);
  warn_of_little_that_repeats(profile, analysis, warnings);
  if (!analysis.no_verdict && analysis.coverage_percent < good_coverage_percent) {
    warnings.push_back(
        {"partial-coverage",
         fmt::format(
             "of {:.0f} % of the run time it is not known whether it was lost: these segments do not repeat, and "
             "their ranks neither computed nor waited for a CPU",
             100.0 - analysis.coverage_percent)});
  }
  if (!analysis.no_verdict && analysis.slow_percent > noticeable_percent) {
    warnings.push_back(
        {"slow-changes",
         fmt::format(
             "up to {:.1f} % more of the run time was lost while segments of the same work gradually became slower and "
             "faster. The cause may be the machine or the program, so this share widens the interval but is not in the "
             "percentage",
             analysis.slow_percent)});
  }
  warn_of_crowded_cores(profile, warnings);
  warn_of_own_doing(analysis, warnings);
  warn_of_slower_than_known(profile, analysis, warnings);
  if (const auto words = slow_words(analysis, {Probe::registers})) warnings.push_back({"slow-registers", *words});
  if (const auto words = slow_words(analysis, {Probe::l2})) warnings.push_back({"slow-l2", *words});
  if (const auto words = slow_words(analysis, {Probe::memory_latency, Probe::memory_bandwidth})) {
    warnings.push_back({"slow-memory", *words});
  }
  if (profile.counter == "none" && profile.segments > 1) {
    warnings.push_back({"no-counter", "computation was not counted, so segments of different work may share a group"});
  }
  return warnings;
}

}  // namespace halcyon
