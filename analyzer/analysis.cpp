#include "analyzer/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "analyzer/estimators.hpp"

namespace halcyon {
namespace {

constexpr double least_coverage_percent = 50.0;
constexpr double good_coverage_percent = 90.0;
// Below, the mean of the excess is not yet near normal and its interval means nothing (the usual rule of thumb).
constexpr std::uint64_t fewest_judged_segments = 30;
constexpr double confidence = 0.90;
// Recording must stay a tenth of what separates green from yellow even if it all fell on the critical path.
constexpr double most_cost_of_recording_percent = green_below_percent / 10.0;
// A duration read to a hundredth still tells a jitter of a few percent from none.
constexpr double fewest_clock_steps_in_a_segment = 100.0;

Durations durations_of(const Profile& profile, const std::vector<std::uint32_t>& members) {
  Durations durations(static_cast<Eigen::Index>(members.size()));
  for (std::size_t i = 0; i < members.size(); ++i) {
    durations[static_cast<Eigen::Index>(i)] = static_cast<double>(profile.duration[members[i]]);
  }
  return durations;
}

// The interference f = Σe / T is a ratio of two sums over random segments. To first order (the delta method) its error
// is that of Σ(e − f x) / T, in which groups add up: var = Σ_groups n s²(e − f x) / T². The quantile is Student's t
// with one degree of freedom less per judged group than there are judged segments. Baselines are taken as given.
Interval interval_of(const std::vector<Durations>& durations, const std::vector<Durations>& excess, double run_time,
                     double interference) {
  double variance = 0.0;
  double freedom = 0.0;
  for (std::size_t g = 0; g < durations.size(); ++g) {
    const Durations residual = excess[g] - interference * durations[g];
    variance += (residual - residual.mean()).square().sum() * static_cast<double>(residual.size()) /
                static_cast<double>(residual.size() - 1);
    freedom += static_cast<double>(residual.size() - 1);
  }
  if (freedom < 1.0 || run_time <= 0.0) return {0.0, 100.0};
  const double quantile = boost::math::quantile(boost::math::students_t(freedom), 0.5 + confidence / 2.0);
  const double half = quantile * std::sqrt(variance) / run_time;
  return {100.0 * std::max(0.0, interference - half), 100.0 * std::min(1.0, interference + half)};
}

// From the excess of the judged groups, in their order, to that of all segments.
std::vector<double> excess_by_segment(const Profile& profile, const Grouping& grouping,
                                      const std::vector<Durations>& excess) {
  std::vector<double> by_segment(profile.segments, 0.0);
  auto group = excess.begin();
  for (const std::vector<std::uint32_t>& members : grouping.members) {
    if (members.size() < smallest_judged_group) continue;
    for (std::size_t i = 0; i < members.size(); ++i) by_segment[members[i]] = (*group)[static_cast<Eigen::Index>(i)];
    ++group;
  }
  return by_segment;
}

std::optional<Warning> reason_for_unknown(const Profile& profile, const Analysis& analysis) {
  if (!profile.disagreement.empty()) {
    return Warning{"boundary-disagreement", "the ranks' boundaries differ: " + profile.disagreement};
  }
  if (profile.segments <= 1) {
    return Warning{"no-boundaries", "the program has no boundaries: no all-to-all collective over all ranks was seen"};
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
  return std::nullopt;
}

void add_warnings(const Profile& profile, Analysis& analysis) {
  if (analysis.unknown) analysis.warnings.push_back(*analysis.unknown);
  const auto warn = [&analysis](const char* code, std::string message) {
    analysis.warnings.push_back({code, std::move(message)});
  };
  if (profile.exit_state != "finalized") warn("incomplete-run", "the run ended as '" + profile.exit_state + "'");
  if (profile.dropped_segments > 0) {
    warn("segments-dropped",
         fmt::format("{} segments did not fit into the memory setting and are not in the profile: raise HALCYON_MEMORY",
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
  if (profile.counter == "none" && profile.segments > 1) {
    warn("no-counter", "without a compute feature, segments of different work may share a group");
  }
}

}  // namespace

Analysis analyze(const Profile& profile, std::string_view method) {
  const Grouping grouping = group_segments(profile);
  Analysis analysis;
  analysis.segments = profile.segments;
  analysis.clusters = grouping.clusters;
  analysis.groups = grouping.groups.count;
  analysis.run_time_seconds = profile.run_time_seconds;
  if (profile.run_time_seconds > 0.0) {
    analysis.segment_rate_hz = static_cast<double>(profile.segments) / profile.run_time_seconds;
  }

  std::vector<Durations> durations;
  double judged_seconds = 0.0;
  for (const std::vector<std::uint32_t>& members : grouping.members) {
    if (members.size() < smallest_judged_group) continue;
    durations.push_back(durations_of(profile, members));
    judged_seconds += durations.back().sum();
    analysis.judged_segments += members.size();
    ++analysis.judged_groups;
  }
  if (profile.run_time_seconds > 0.0) {
    analysis.coverage_percent = std::min(100.0, 100.0 * judged_seconds / profile.run_time_seconds);
  }
  analysis.unknown = reason_for_unknown(profile, analysis);

  for (const Method& candidate : methods) {
    MethodResult result{.name = candidate.name};
    std::vector<Durations> excess;
    for (const Durations& group : durations) {
      excess.push_back(candidate.estimate(group).excess);
      result.excess_seconds += excess.back().sum();
    }
    const double interference =
        profile.run_time_seconds > 0.0 ? std::min(1.0, result.excess_seconds / profile.run_time_seconds) : 0.0;
    result.interference_percent = 100.0 * interference;
    result.interval_percent = interval_of(durations, excess, profile.run_time_seconds, interference);
    result.probability_high = probability_high(result.interference_percent);
    result.verdict = !analysis.unknown ? verdict_of(result.interference_percent) : Verdict::unknown;
    if (candidate.name == method) {
      analysis.chosen = analysis.methods.size();
      analysis.excess = excess_by_segment(profile, grouping, excess);
      analysis.attribution = attribute(profile, grouping, analysis.excess);
    }
    analysis.methods.push_back(result);
  }
  if (!profile.injected.critical.empty() && profile.run_time_seconds > 0.0) {
    double critical = 0.0;
    for (const float seconds : profile.injected.critical) critical += static_cast<double>(seconds);
    analysis.injected_percent = 100.0 * critical / profile.run_time_seconds;
  }
  add_warnings(profile, analysis);
  return analysis;
}

}  // namespace halcyon
