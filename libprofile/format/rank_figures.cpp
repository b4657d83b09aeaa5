#include "libprofile/format/rank_figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "libprofile/format/clock_source.hpp"

namespace halcyon {
namespace {

bool is_known(const RankFigures& rank) { return rank.run_time >= 0.0; }

std::string clock_name(const RankFigures& rank) {
  const auto source = static_cast<ClockSource>(rank.clock_source);
  if (source == ClockSource::monotonic) return "CLOCK_MONOTONIC";
  // In whole numbers, since the program's locale may have another decimal point.
  constexpr double most = 1e9;
  const bool is_timer = source == ClockSource::generic_timer;
  const double per_microsecond = 1000.0 / rank.nanoseconds_per_tick;
  const auto thousandths =
      static_cast<long>(std::min(is_timer ? 1000.0 * per_microsecond : per_microsecond, most) + 0.5);
  char text[60];
  std::snprintf(text, sizeof text, is_timer ? "generic timer %ld.%03ld MHz" : "TSC %ld.%03ld GHz", thousandths / 1000,
                thousandths % 1000);
  return text;
}

// Calls `visit(column, value)` for the four times of a probe.
template <class Visit>
void for_each_probe_time(ProbeColumns& columns, const RankFigures& rank, std::size_t probe, Visit visit) {
  visit(columns.best_before, rank.probes_before[probe].best);
  visit(columns.mean_before, rank.probes_before[probe].mean);
  visit(columns.best_after, rank.probes_after[probe].best);
  visit(columns.mean_after, rank.probes_after[probe].mean);
}

}  // namespace

RankFigures lost_rank() {
  RankFigures lost;
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  lost.run_time = unknown;
  lost.evidence.fill(unknown);
  return lost;
}

void RankColumns::add_names(const RankFigures& rank) {
  columns_.rank_host.emplace_back(rank.host.data());
  columns_.rank_cpu.emplace_back(rank.cpu.data());
}

void RankColumns::add_other_figures(const RankFigures& rank) {
  columns_.rank_run_time.push_back(rank.run_time);
  for (std::size_t i = 0; i < evidence_count; ++i) columns_.evidence[i].push_back(rank.evidence[i]);
  for (const FeatureInfo& info : features) {
    const std::size_t feature = index_of(info.feature);
    if (info.kind != FeatureKind::work) columns_.totals[feature].push_back(rank.totals[feature]);
  }
  for (std::size_t probe = 0; probe < probe_count; ++probe) {
    for_each_probe_time(columns_.probes[probe], rank, probe,
                        [](std::vector<double>& column, double time) { column.push_back(time); });
  }
  columns_.background_before.quantum.push_back(rank.background_before.quantum);
  columns_.background_before.mean.push_back(rank.background_before.mean);
  columns_.background_after.quantum.push_back(rank.background_after.quantum);
  columns_.background_after.mean.push_back(rank.background_after.mean);
  has_background_ =
      has_background_ && is_known(rank) && rank.background_before.quantum > 0.0 && rank.background_after.quantum > 0.0;
  if (!is_known(rank)) return;
  if (known_ranks_ == 0.0) {  // the first known rank's clock and costs stand for all
    columns_.clock = clock_name(rank);
    columns_.boundary_cost_seconds = rank.boundary_cost;
    columns_.clock_resolution_seconds = rank.clock_resolution;
  }
  columns_.run_time_seconds += rank.run_time;
  suspension_.seconds += rank.suspended;
  suspension_.times = std::max(suspension_.times, rank.suspensions);
  known_ranks_ += 1.0;
}

void RankColumns::put_into(Profile& profile) {
  profile.ranks = static_cast<int>(ranks());
  profile.clock = std::move(columns_.clock);
  profile.boundary_cost_seconds = columns_.boundary_cost_seconds;
  profile.clock_resolution_seconds = columns_.clock_resolution_seconds;
  profile.run_time_seconds = columns_.run_time_seconds / known_ranks_;
  suspension_.seconds /= known_ranks_;
  if (suspension_.times > 0) profile.suspension = suspension_;
  profile.rank_host = std::move(columns_.rank_host);
  profile.rank_cpu = std::move(columns_.rank_cpu);
  profile.rank_run_time = std::move(columns_.rank_run_time);
  profile.evidence = std::move(columns_.evidence);
  profile.totals = std::move(columns_.totals);
  if (has_background_) {  // of all ranks
    profile.background_before = std::move(columns_.background_before);
    profile.background_after = std::move(columns_.background_after);
  }
  for (std::size_t probe = 0; probe < probe_count; ++probe) {
    ProbeColumns& columns = columns_.probes[probe];
    for (std::vector<double>* times :
         {&columns.best_before, &columns.mean_before, &columns.best_after, &columns.mean_after}) {
      if (std::all_of(times->begin(), times->end(), [](double time) { return std::isnan(time); })) times->clear();
    }
    profile.probes[probe] = std::move(columns);
  }
}

}  // namespace halcyon
