#include "libprofile/format/rank_figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace halcyon {
namespace {

bool is_known(const RankFigures& rank) { return rank.run_time >= 0.0; }

std::string clock_name(const RankFigures& rank) {
  if (rank.has_tsc == 0) return "CLOCK_MONOTONIC";
  char text[40];
  std::snprintf(text, sizeof text, "TSC %.3f GHz", 1.0 / rank.nanoseconds_per_tick);
  return text;
}

void set_background(const std::vector<RankFigures>& figures, Profile& profile) {
  // Needs the times of all ranks.
  const bool is_measured = std::all_of(figures.begin(), figures.end(), [](const RankFigures& rank) {
    return is_known(rank) && rank.background_before.quantum > 0.0 && rank.background_after.quantum > 0.0;
  });
  if (!is_measured) return;
  for (const RankFigures& rank : figures) {
    profile.background_before.quantum.push_back(rank.background_before.quantum);
    profile.background_before.mean.push_back(rank.background_before.mean);
    profile.background_after.quantum.push_back(rank.background_after.quantum);
    profile.background_after.mean.push_back(rank.background_after.mean);
  }
}

void set_probe(const std::vector<RankFigures>& figures, std::size_t probe, ProbeColumns& columns) {
  const auto set = [&](std::vector<double>& column, ProbeTimes RankFigures::*when, double ProbeTime::*time) {
    const auto value = [&](const RankFigures& rank) { return (rank.*when)[probe].*time; };
    const bool is_measured = std::any_of(figures.begin(), figures.end(),
                                         [&value](const RankFigures& rank) { return !std::isnan(value(rank)); });
    for (const RankFigures& rank : figures) {
      if (is_measured) column.push_back(value(rank));
    }
  };
  set(columns.best_before, &RankFigures::probes_before, &ProbeTime::best);
  set(columns.mean_before, &RankFigures::probes_before, &ProbeTime::mean);
  set(columns.best_after, &RankFigures::probes_after, &ProbeTime::best);
  set(columns.mean_after, &RankFigures::probes_after, &ProbeTime::mean);
}

}  // namespace

RankFigures lost_rank() {
  RankFigures lost;
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::snprintf(lost.host.data(), lost.host.size(), "unknown");
  lost.run_time = unknown;
  lost.evidence.fill(unknown);
  return lost;
}

void set_rank_figures(const std::vector<RankFigures>& figures, Profile& profile) {
  profile.ranks = static_cast<int>(figures.size());
  double known = 0.0;
  Suspension suspension;
  for (const RankFigures& rank : figures) {
    profile.rank_host.emplace_back(rank.host.data());
    profile.rank_cpu.emplace_back(rank.cpu.data());
    profile.rank_run_time.push_back(rank.run_time);
    for (std::size_t i = 0; i < evidence_count; ++i) profile.evidence[i].push_back(rank.evidence[i]);
    for (const FeatureInfo& info : features) {
      const std::size_t feature = index_of(info.feature);
      if (info.kind != FeatureKind::work) profile.totals[feature].push_back(rank.totals[feature]);
    }
    if (!is_known(rank)) continue;
    if (known == 0.0) {  // the first known rank's clock and costs stand for all
      profile.clock = clock_name(rank);
      profile.boundary_cost_seconds = rank.boundary_cost;
      profile.clock_resolution_seconds = rank.clock_resolution;
    }
    profile.run_time_seconds += rank.run_time;
    suspension.seconds += rank.suspended;
    suspension.times = std::max(suspension.times, rank.suspensions);
    known += 1.0;
  }
  profile.run_time_seconds /= known;
  suspension.seconds /= known;
  if (suspension.times > 0) profile.suspension = suspension;
  set_background(figures, profile);
  for (std::size_t probe = 0; probe < probe_count; ++probe) set_probe(figures, probe, profile.probes[probe]);
}

}  // namespace halcyon
