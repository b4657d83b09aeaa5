#include "libprofile/reduce/outgoing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "libprofile/format/schema.hpp"

namespace halcyon {
namespace {

std::string clock_name(const RankFigures& rank) {
  if (rank.has_tsc == 0) return "CLOCK_MONOTONIC";
  char text[40];
  std::snprintf(text, sizeof text, "TSC %.3f GHz", 1.0 / rank.nanoseconds_per_tick);
  return text;
}

template <class Get>
void send_column(FrameWriter& frames, std::string_view name, const std::vector<RankFigures>& figures, Get get) {
  std::vector<std::decay_t<decltype(get(figures.front()))>> column;
  for (const RankFigures& rank : figures) column.push_back(get(rank));
  frames.column(name, column.data(), column.size());
}

}  // namespace

RankFigures lost_rank() {
  RankFigures lost{};
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::snprintf(lost.host.data(), lost.host.size(), "unknown");
  lost.run_time = unknown;
  lost.evidence.fill(unknown);
  return lost;
}

void send_facts(const RunFacts& facts, const std::vector<RankFigures>& figures, const RunEnd& end,
                FrameWriter& frames) {
  double run_time = 0.0;
  double known = 0.0;
  bool has_background = true;
  const RankFigures* first = nullptr;  // whose clock and costs stand for all
  for (const RankFigures& rank : figures) {
    if (!(rank.run_time >= 0.0)) continue;
    if (first == nullptr) first = &rank;
    run_time += rank.run_time;
    known += 1.0;
    has_background = has_background && rank.background[0] > 0.0 && rank.background[2] > 0.0;
  }
  has_background = has_background && known == static_cast<double>(figures.size());

  frames.integer("segments", static_cast<std::int64_t>(end.segments));
  frames.integer("ranks", static_cast<std::int64_t>(figures.size()));
  frames.text("recorder_version", facts.recorder_version);
  frames.text("command", facts.command);
  if (!facts.boundary.empty()) frames.text("boundary", facts.boundary);
  frames.text("mpi", facts.mpi);
  frames.text("counter", facts.counter);
  frames.text("compute_units", facts.compute_units);
  frames.text("clock", clock_name(*first));
  frames.text("start_time", facts.start_time);
  frames.text("exit_state", end.exit_state);
  if (!end.incomplete.empty()) frames.text("incomplete", end.incomplete);
  frames.text("disagreement", end.disagreement);
  frames.text("inject", facts.inject);
  frames.integer("dropped_segments", static_cast<std::int64_t>(end.dropped));
  frames.real("run_time_seconds", run_time / known);
  frames.real("boundary_cost_seconds", first->boundary_cost);
  frames.real("clock_resolution_seconds", first->clock_resolution);
  std::string hosts;
  for (const RankFigures& rank : figures) hosts += std::string(rank.host.data()) + '\0';
  frames.text_column("rank_host", hosts);
  send_column(frames, "rank_run_time", figures, [](const RankFigures& rank) { return rank.run_time; });
  for (std::size_t i = 0; has_background && i < background_names.size(); ++i) {
    send_column(frames, background_names[i], figures, [i](const RankFigures& rank) { return rank.background[i]; });
  }
  std::string cpus;
  for (const RankFigures& rank : figures) cpus += std::string(rank.cpu.data()) + '\0';
  frames.text_column("rank_cpu", cpus);
  for (const ProbeInfo& info : probe_infos) {
    const auto send = [&](ProbeColumn column, ProbeTimes RankFigures::*when, double ProbeTime::*time) {
      const auto value = [&](const RankFigures& rank) { return (rank.*when)[index_of(info.probe)].*time; };
      // Where none was measured there is no column.
      if (std::any_of(figures.begin(), figures.end(),
                      [&value](const RankFigures& rank) { return !std::isnan(value(rank)); })) {
        send_column(frames, probe_name(info, column), figures, value);
      }
    };
    send(ProbeColumn::best_before, &RankFigures::probes_before, &ProbeTime::best);
    send(ProbeColumn::mean_before, &RankFigures::probes_before, &ProbeTime::mean);
    send(ProbeColumn::best_after, &RankFigures::probes_after, &ProbeTime::best);
    send(ProbeColumn::mean_after, &RankFigures::probes_after, &ProbeTime::mean);
  }
  for (const EvidenceInfo& info : evidence_infos) {
    send_column(frames, evidence_name(info), figures,
                [&info](const RankFigures& rank) { return rank.evidence[index_of(info.evidence)]; });
  }
  for (const FeatureInfo& info : features) {
    if (info.kind == FeatureKind::work) continue;
    send_column(frames, totals_name(info.name), figures,
                [&info](const RankFigures& rank) { return rank.totals[index_of(info.feature)]; });
  }
}

void send_bins(const OwnedSegments& owned, const std::vector<Module>& modules, FrameWriter& frames) {
  std::string reduced;
  for (const FeatureInfo& info : features) {
    const OwnedFeature& column = owned.features[index_of(info.feature)];
    frames.column(bins_name(info.name), column.bins.data(), column.bins.size());
    if (column.reduced) reduced += (reduced.empty() ? "" : " ") + std::string(info.name);
  }
  frames.text("reduced_features", reduced);
  std::string sites;
  for (const std::string& site : owned.sites) sites += site + '\0';
  frames.text_column("sites", sites);
  const auto send_of_modules = [&](std::string_view name, std::string Module::*what) {
    std::string texts;
    for (const Module& module : modules) texts += module.*what + '\0';
    if (!modules.empty()) frames.text_column(name, texts);
  };
  send_of_modules("modules", &Module::name);
  send_of_modules("module_paths", &Module::path);
  send_of_modules("module_build_ids", &Module::build_id);
}

std::vector<OutgoingColumn> columns_of(const OwnedSegments& owned, bool with_injection) {
  std::vector<OutgoingColumn> columns;
  const auto add = [&columns](const std::string& name, const auto& values) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    columns.push_back({name, element_type_of<T>(), reinterpret_cast<const std::byte*>(values.data())});
  };
  add("duration", owned.duration);
  add("boundary_wait", owned.boundary_wait);
  add("calls_beyond_usual", owned.calls_beyond_usual);
  add("last_rank", owned.last_rank);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    add(last_rank_time_name(time_kind_names[kind]), owned.last_rank_times[kind]);
  }
  add("last_rank_off_cpu", owned.last_rank_off_cpu);
  for (const FeatureInfo& info : features) {
    const OwnedFeature& column = owned.features[index_of(info.feature)];
    if (column.bins.size() > 1) add(std::string(info.name), column.index);
  }
  if (owned.sites.size() > 1) add("site", owned.site);
  if (with_injection) {
    add("injected_requested", owned.injected_requested);
    add("injected_actual", owned.injected_actual);
    add("injected_critical", owned.injected_critical);
  }
  return columns;
}

}  // namespace halcyon
