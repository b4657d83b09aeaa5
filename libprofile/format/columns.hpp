// The one list of all attributes and columns of a profile file: name, unit, description, dimension, how ranks are
// merged into it, first schema version, and allowed values. Writing, reading, checking, merging and docs/columns.md all
// use these lists. So a new column needs one line here, one member of Profile, and the code that fills it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "libprofile/format/evidence.hpp"
#include "libprofile/format/features.hpp"
#include "libprofile/format/measures.hpp"
#include "libprofile/format/probes.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

// No real profile exceeds these limits. They bound the memory and disk that a damaged file can claim, and keep sums
// over all segments or ranks, and the squares of these, finite.
inline constexpr std::uint64_t most_segments = std::uint64_t{1} << 32;
inline constexpr std::uint64_t most_ranks = std::uint64_t{1} << 24;
inline constexpr double most_seconds = 1e12;
inline constexpr double most_evidence = 1e12;  // of a rank: sums over all ranks then fit into 64 bits
inline constexpr double most_in_segment = 0x1p64;

// -- attributes

struct Attribute {
  std::string_view name;
  std::string_view description;
  int since = 1;          // schema version; older profiles may lack it
  bool optional = false;  // left out if it is empty
  double least = 0.0;     // limits of a number
  double most = std::numeric_limits<double>::max();
};

/// The facts of a run that any of its ranks knows. `visit(attribute, text or integer)`.
template <class Facts, class Visit>
void for_each_run_fact(Facts& facts, Visit&& visit) {
  visit(Attribute{"recorder_version", "version of Halcyon that recorded the run"}, facts.recorder_version);
  visit(Attribute{"command", "the program and its arguments"}, facts.command);
  visit(Attribute{"mpi", "MPI library"}, facts.mpi);
  visit(Attribute{"counter", "what counts computation: `papi:EVENT`, `cpu` or `none`"}, facts.counter);
  visit(Attribute{"compute_units", "unit of the compute feature: `ns` for CPU time, else `1`"}, facts.compute_units);
  visit(Attribute{"start_time", "when MPI_Init returned, UTC"}, facts.start_time);
  visit(Attribute{.name = "start_nanoseconds",
                  .description = "the same, ns since 1970-01-01 UTC",
                  .since = 7,
                  .optional = true,
                  .most = static_cast<double>(std::numeric_limits<std::int64_t>::max())},
        facts.start_nanoseconds);
  visit(Attribute{.name = "inject", .description = "what intM was asked to inject; empty without it", .since = 2},
        facts.inject);
  visit(Attribute{.name = "boundary",
                  .description = "what was asked to end segments: `auto`, `all-to-all`, `rooted` or `pcontrol`; absent "
                                 "in older profiles, which know all-to-all collectives alone",
                  .since = 2,
                  .optional = true},
        facts.boundary);
  visit(Attribute{.name = "label",
                  .description = "words by which runs of a program are told apart, such as its version",
                  .since = 10,
                  .optional = true},
        facts.label);
  visit(Attribute{.name = "note", .description = "what who recorded it wrote of it", .since = 10, .optional = true},
        facts.note);
  const auto of_batch_system = [&](std::string_view name, std::string_view description, auto& text, int since = 7) {
    visit(Attribute{.name = name, .description = description, .since = since, .optional = true}, text);
  };
  of_batch_system("job", "the job of Slurm, Flux, PBS or LSF", facts.job);
  of_batch_system("job_step", "the step of the job, or its index in an array", facts.job_step);
  of_batch_system("user", "who ran it; absent with `--no-names`", facts.user);
  of_batch_system("project", "the account that the job is charged to; absent with `--no-names`", facts.project, 10);
  of_batch_system("cluster", "the cluster; absent with `--no-names`", facts.cluster);
  of_batch_system("partition", "the partition or queue; absent with `--no-names`", facts.partition);
  of_batch_system("node_list", "the nodes of the job, as the batch system writes them; absent with `--no-names`",
                  facts.node_list);
}

/// How long the program was suspended.
template <class S, class Visit>
void for_each_attribute_of_suspension(S& suspension, Visit&& visit) {
  visit(Attribute{.name = "suspensions",
                  .description = "how many times `halcyon regulate` suspended the program",
                  .since = 4,
                  .least = 1.0},
        suspension.times);
  visit(Attribute{.name = "suspended_seconds",
                  .description = "how long the program was suspended in all, mean over ranks; in no segment, and not "
                                 "in run_time_seconds",
                  .since = 4,
                  .most = most_seconds},
        suspension.seconds);
}
inline constexpr std::string_view suspension_name = "suspensions";

/// Comparison of the run with earlier runs of the same work; the next list compares its parts.
template <class Known, class Visit>
void for_each_attribute_of_known_runs(Known& known, Visit&& visit) {
  constexpr double least = -most_seconds;
  visit(Attribute{"known_runs", "earlier runs of the same work that were known when the run was judged", 4, false, 1.0},
        known.runs);
  const auto seconds = [&](std::string_view name, std::string_view description, auto& value) {
    visit(Attribute{name, description, 4, false, least, most_seconds}, value);
  };
  seconds("known_runs_displacement_seconds",
          "how far the medians of this run's groups lay above the best medians of the known runs, sum over segments",
          known.displacement_seconds);
  seconds("known_runs_low_seconds", "lower end of the 90 % interval of known_runs_displacement_seconds",
          known.low_seconds);
  seconds("known_runs_high_seconds", "upper end of the 90 % interval of known_runs_displacement_seconds",
          known.high_seconds);
  seconds("known_runs_matched_seconds", "run time in groups that the known runs have, too", known.matched_seconds);
}
inline constexpr std::string_view known_runs_name = "known_runs";

template <class Parts, class Visit>
void for_each_attribute_of_known_parts(Parts& parts, Visit&& visit) {
  constexpr double least = -most_seconds;
  visit(Attribute{"known_runs_of_parts", "earlier runs that had as many segments", 4, false, 1.0}, parts.runs);
  const auto seconds = [&](std::string_view name, std::string_view description, auto& value) {
    visit(Attribute{name, description, 4, false, least, most_seconds}, value);
  };
  seconds("known_runs_beyond_seconds", "how far this run lay above the best known times of its parts, sum over parts",
          parts.beyond_seconds);
  seconds("known_runs_beyond_low_seconds", "lower end of the 90 % interval of known_runs_beyond_seconds",
          parts.low_seconds);
  seconds("known_runs_beyond_high_seconds", "upper end of the 90 % interval of known_runs_beyond_seconds",
          parts.high_seconds);
}
inline constexpr std::string_view known_parts_name = "known_runs_of_parts";

/// Who had the CPUs that ranks waited for.
template <class W, class Visit>
void for_each_attribute_of_witness(W& witnessed, Visit&& visit) {
  visit(Attribute{.name = "witness",
                  .description = "how a witness on the host of the command saw who had CPUs that ranks waited for: by "
                                 "`switches` of the kernel or by `samples` of /proc",
                  .since = 10},
        witnessed.by);
  visit(
      Attribute{.name = "witness_seconds", .description = "for how long it looked", .since = 10, .most = most_seconds},
      witnessed.seconds);
  visit(Attribute{.name = "witness_waited_seconds",
                  .description = "how long ranks on that host waited meanwhile, sum over ranks",
                  .since = 10,
                  .most = most_seconds},
        witnessed.waited_seconds);
}
inline constexpr std::string_view witness_name = "witness";

/// `visit(attribute, value)`, where the value is a text, an integer or a real number. `segments` and `ranks` come
/// first, since they size the columns. The comparison with earlier runs is not included.
template <class P, class Visit>
void for_each_attribute(P& profile, Visit&& visit) {
  visit(Attribute{.name = "segments", .description = "number of segments", .most = static_cast<double>(most_segments)},
        profile.segments);
  visit(
      Attribute{
          .name = "ranks", .description = "number of ranks", .least = 1.0, .most = static_cast<double>(most_ranks)},
      profile.ranks);
  for_each_run_fact(profile, visit);
  visit(Attribute{"clock", "the recorder's clock"}, profile.clock);
  visit(Attribute{"exit_state",
                  "`finalized`, `composed`, or how a recovered run ended: `aborted`, `exited`, "
                  "`killed`, `signal N`"},
        profile.exit_state);
  visit(Attribute{.name = "incomplete", .description = "what is missing from the run", .since = 2, .optional = true},
        profile.incomplete);
  visit(Attribute{.name = "disagreement",
                  .description = "how the ranks' boundaries differ; there are no segments then",
                  .since = 2},
        profile.disagreement);
  std::string reduced;
  for (const FeatureInfo& info : features) {
    if (profile.features[index_of(info.feature)].reduced)
      reduced += (reduced.empty() ? "" : " ") + std::string(info.name);
  }
  visit(Attribute{.name = "reduced_features",
                  .description = "features for which only the value over all ranks is kept",
                  .since = 2},
        reduced);
  if constexpr (!std::is_const_v<P>) {
    const std::string padded = " " + reduced + " ";
    for (const FeatureInfo& info : features) {
      profile.features[index_of(info.feature)].reduced = padded.find(" " + std::string(info.name) + " ") != padded.npos;
    }
  }
  visit(Attribute{"dropped_segments", "segments per rank that neither memory nor disk had room for"},
        profile.dropped_segments);
  const auto seconds = [&](std::string_view name, std::string_view description, auto& value) {
    visit(Attribute{.name = name, .description = description, .most = most_seconds}, value);
  };
  seconds("run_time_seconds", "from MPI_Init to MPI_Finalize without suspended time, mean over ranks",
          profile.run_time_seconds);
  seconds("boundary_cost_seconds", "what recording one boundary took", profile.boundary_cost_seconds);
  seconds("clock_resolution_seconds", "smallest time difference that the clock shows",
          profile.clock_resolution_seconds);
}

// -- columns

/// The allowed values of a number. NaN means unknown.
enum class Values : std::uint8_t {
  any,
  seconds,
  seconds_or_unknown,
  evidence_or_unknown,
  of_segment,
  of_segment_or_unknown,
  index
};

inline constexpr std::string_view over_segments = "segment";
inline constexpr std::string_view over_ranks = "rank";
inline constexpr std::string_view over_sections = "section";
inline constexpr std::string_view over_ranks_and_sections = "rank_and_section";
inline constexpr std::string_view over_parties = "party";

struct Column {
  std::string name;
  std::string over;   // the dimension
  std::string units;  // empty for texts
  std::string description;
  int since = 1;  // schema version
  bool needed = false;
  Values values = Values::any;
  std::uint64_t below = 0;  // upper limit of indices, exclusive
};

/// How the ranks' measures of a segment become one value.
enum class OverRanks : std::uint8_t {
  mean,
  sum,
  least,
  largest,
  of_last_rank,
  least_in_mpi,  // the sum of the times in calls of MPI
  // How much longer the segment was because of something that ranks could have saved (merge/peers.hpp).
  by_cpu_waits,
  by_slower_ranks,
  by_more_work,
};

struct MeasureColumn {
  std::string_view name;
  Measure measure;
  OverRanks over_ranks;
  int since;
  std::string_view description;
};

/// The columns over segments that are made of a measure. `visit(column, values)`.
template <class P, class Visit>
void for_each_measure_column(P& profile, Visit&& visit) {
  using enum OverRanks;
  visit(MeasureColumn{"duration", Measure::duration, mean, 1, "duration of the segment, mean over ranks"},
        profile.duration);
  visit(MeasureColumn{"gap_before", Measure::gap, mean, 10,
                      "time between the segment before it and its own start, in no segment: records were written, or "
                      "the program was suspended; mean over ranks"},
        profile.gap_before);
  visit(MeasureColumn{"boundary_wait", Measure::boundary, mean, 1, "time in the boundary operation, mean over ranks"},
        profile.boundary_wait);
  visit(
      MeasureColumn{"least_mpi_time", Measure::boundary, least_in_mpi, 7,
                    "time in calls of MPI, least of any rank: no rank computed then, as far as the ranks' times tell"},
      profile.least_mpi_time);
  visit(MeasureColumn{"calls_beyond_usual", Measure::beyond_usual, least, 3,
                      "time that calls took beyond what is usual at their place in the program, least of any rank"},
        profile.calls_beyond_usual);
  visit(MeasureColumn{"last_rank_point_to_point", Measure::point_to_point, of_last_rank, 1,
                      "time in point_to_point calls of the rank that held the others up"},
        profile.last_rank_times[0]);
  visit(MeasureColumn{"last_rank_collective", Measure::collective, of_last_rank, 1,
                      "time in collective calls of the rank that held the others up"},
        profile.last_rank_times[1]);
  visit(MeasureColumn{"last_rank_boundary", Measure::boundary, of_last_rank, 1,
                      "time in boundary calls of the rank that held the others up"},
        profile.last_rank_times[2]);
  visit(MeasureColumn{"last_rank_file_io", Measure::file_io, of_last_rank, 1,
                      "time in file_io calls of the rank that held the others up"},
        profile.last_rank_times[3]);
  visit(MeasureColumn{"last_rank_device", Measure::device, of_last_rank, 8,
                      "time in calls of devices of the rank that held the others up"},
        profile.last_rank_times[4]);
  visit(
      MeasureColumn{"last_rank_off_cpu", Measure::off_cpu, of_last_rank, 2,
                    "time in which the rank that held the others up was not on a CPU, as far as it shows in stretches "
                    "above 200 us"},
      profile.last_rank_off_cpu);
  visit(MeasureColumn{"lost_to_cpu_wait", Measure::cpu_wait, by_cpu_waits, 6,
                      "time by which the segment was longer, at least, because ranks were ready to run while other "
                      "threads had the CPU"},
        profile.lost_to_cpu_wait);
  visit(MeasureColumn{"lost_to_slower_ranks", Measure::duration, by_slower_ranks, 7,
                      "time by which the segment was longer because ranks took longer than their peers for the same "
                      "work"},
        profile.lost_to_slower_ranks);
  visit(MeasureColumn{"lost_to_more_work", Measure::duration, by_more_work, 7,
                      "time by which the segment was longer because ranks had more work than their peers"},
        profile.lost_to_more_work);
  visit(MeasureColumn{"injected_critical", Measure::injected_actual, largest, 1,
                      "delay that intM caused, largest of any rank"},
        profile.injected.critical);
  visit(MeasureColumn{"injected_requested", Measure::injected_requested, sum, 1,
                      "delay that intM was asked for, sum over ranks"},
        profile.injected.requested);
  visit(MeasureColumn{"injected_actual", Measure::injected_actual, sum, 1, "delay that intM caused, sum over ranks"},
        profile.injected.actual);
}

/// The columns of for_each_measure_column(), in its order.
template <class P>
auto measure_columns(P& profile) {
  using Times = std::conditional_t<std::is_const_v<P>, const std::vector<float>, std::vector<float>>;
  std::vector<Times*> columns;
  for_each_measure_column(profile, [&columns](const MeasureColumn&, Times& values) { columns.push_back(&values); });
  return columns;
}

/// The columns over segments that have the compute feature of one rank. `visit(name, which rank, column)`.
template <class P, class Visit>
void for_each_work_of_rank(P& profile, Visit&& visit) {
  visit("largest_compute", "largest of any rank", profile.largest_work);
  visit("last_rank_compute", "of the rank that held the others up", profile.last_rank_work);
}

inline std::string bins_name(const FeatureInfo& info) { return std::string(info.name) + "_bins"; }
inline std::string total_name(const FeatureInfo& info) { return "total_" + std::string(info.name); }
inline std::string evidence_name(const EvidenceInfo& info) {
  return (info.of_host ? "host_" : "rank_") + std::string(info.name);
}

/// The best probe times known of each rank's host when the run was judged.
template <class P, class Visit>
void for_each_known_probe_column(P& profile, Visit&& visit) {
  for (const ProbeInfo& info : probe_infos) {
    visit(Column{.name = "probe_" + std::string(info.name) + "_known",
                 .over = std::string(over_ranks),
                 .units = "s",
                 .description =
                     std::string(info.description) + ", the best that was known of the host when the run was judged",
                 .since = info.since,
                 .values = Values::seconds_or_unknown},
          profile.probes[index_of(info.probe)].known);
  }
}

/// Columns with one value per rank. `visit(column, values)`.
template <class P, class Visit>
void for_each_rank_column(P& profile, Visit&& visit) {
  const auto rank = [&](std::string name, std::string_view units, std::string description, auto& values, int since,
                        Values allowed, bool needed) {
    visit(Column{std::move(name), std::string(over_ranks), std::string(units), std::move(description), since, needed,
                 allowed},
          values);
  };
  rank("rank_host", "", "host of the rank", profile.rank_host, 1, Values::any, true);
  rank("rank_run_time", "s", "time from MPI_Init to MPI_Finalize without suspended time", profile.rank_run_time, 1,
       Values::seconds_or_unknown, true);
  const auto background = [&](const std::string& when, auto& times) {
    const bool needed = !profile.background_before.quantum.empty();
    rank("background_quantum_" + when, "s", "fixed work just " + when + " the run, 1 % quantile of its time",
         times.quantum, 2, Values::seconds, needed);
    rank("background_mean_" + when, "s", "fixed work just " + when + " the run, mean of its time", times.mean, 2,
         Values::seconds, needed || !times.quantum.empty());
  };
  background("before", profile.background_before);
  background("after", profile.background_after);
  rank("rank_cpu", "", "model of the rank's processor", profile.rank_cpu, 4, Values::any, false);
  for (const ProbeInfo& info : probe_infos) {
    auto& probe = profile.probes[index_of(info.probe)];
    const auto add = [&](std::string_view what, std::string_view words, auto& values) {
      rank("probe_" + std::string(info.name) + "_" + std::string(what), "s",
           std::string(info.description) + std::string(words), values, info.since, Values::seconds_or_unknown, false);
    };
    add("best_before", ", best just before the run", probe.best_before);
    add("mean_before", ", mean just before the run", probe.mean_before);
    add("best_after", ", best just after the run", probe.best_after);
    add("mean_after", ", mean just after the run", probe.mean_after);
  }
  for_each_known_probe_column(profile, visit);
  for (const EvidenceInfo& info : evidence_infos) {
    rank(evidence_name(info), info.units, std::string(info.description), profile.evidence[index_of(info.evidence)],
         info.since, Values::evidence_or_unknown, false);
  }
  for (const FeatureInfo& info : features) {
    if (info.kind == FeatureKind::work) continue;
    rank(total_name(info), info.units, std::string(info.description) + ", exact sum over the run",
         profile.totals[index_of(info.feature)], info.since, Values::any, info.since == 1);
  }
}

/// Columns with one value per section of the run, and per rank and section. `visit(column, values)`.
template <class S, class Visit>
void for_each_section_column(S& sections, Visit&& visit) {
  visit(Column{.name = "section_place",
               .over = std::string(over_sections),
               .description = "a section is an eighth of the run, by number of segments, and of it the segments that "
                              "one place ended: this call site, or none of the others",
               .since = 7},
        sections.place);
  const auto of_rank = [&](std::string_view name, std::string_view units, std::string_view description, auto& values,
                           int since = 7) {
    visit(Column{.name = std::string(name),
                 .over = std::string(over_ranks_and_sections),
                 .units = std::string(units),
                 .description = std::string(description) + ", in each section; those of rank 0 first",
                 .since = since,
                 .values = Values::of_segment_or_unknown},
          values);
  };
  of_rank("rank_computing", "s", "time of the rank outside calls of MPI, files and devices, on a CPU or ready for one",
          sections.computing);
  of_rank("rank_work", "1", "computation of the rank, in units of the counter", sections.work);
  of_rank("rank_waiting", "s", "time of the rank in calls of MPI", sections.waiting);
  of_rank("rank_file_io", "s", "time of the rank in calls of files", sections.file_io);
  of_rank("rank_device", "s", "time of the rank in calls of devices", sections.device, 8);
}

/// Columns with one value per party that a witness saw. `visit(column, values)`.
template <class W, class Visit>
void for_each_column_of_witness(W& witnessed, Visit&& visit) {
  const auto text = [&](std::string_view name, std::string_view description, auto& values) {
    visit(Column{.name = std::string(name),
                 .over = std::string(over_parties),
                 .description = std::string(description),
                 .since = 10},
          values);
  };
  text("witness_whose",
       "whose processes had the CPUs: `ranks` of this run, others of its job (`own_job`), `other_job`, `service`, "
       "`kernel`, `other`, or `nobody` who was seen; those that had most first",
       witnessed.whose);
  text("witness_program", "their program", witnessed.program);
  text("witness_user", "their user", witnessed.user);
  text("witness_job", "their job of the batch system", witnessed.job);
  text("witness_service", "their service of the host", witnessed.service);
  visit(Column{.name = "witness_had_seconds",
               .over = std::string(over_parties),
               .units = "s",
               .description = "for how long they had CPUs that ranks waited for",
               .since = 10,
               .values = Values::seconds},
        witnessed.had_seconds);
}

/// The tables that columns over segments point into; each has its own dimension. `visit(column, values)`.
template <class P, class Visit>
void for_each_table(P& profile, Visit&& visit) {
  const bool any = profile.segments > 0;
  for (const FeatureInfo& info : features) {
    visit(Column{.name = bins_name(info),
                 .over = std::string(info.name) + "_bin",
                 .units = std::string(info.units),
                 .description = std::string(info.description) +
                                (info.kind == FeatureKind::work ? ", median over ranks" : ", sum over ranks"),
                 .since = info.since,
                 .needed = any && info.since == 1,
                 .values = Values::of_segment},
          profile.features[index_of(info.feature)].bins);
  }
  for_each_work_of_rank(profile, [&](const std::string& name, std::string_view which, auto& work) {
    visit(Column{.name = name + "_bins",
                 .over = name + "_bin",
                 .units = std::string(features[index_of(Feature::compute)].units),
                 .description = "computation, " + std::string(which),
                 .since = 5,
                 .values = Values::of_segment},
          work.bins);
  });
  visit(Column{.name = "sites",
               .over = "site_bin",
               .description = "call sites: boundary@module+offset or, of Python, boundary@file:line; the boundary is "
                              "`step` where calls that recur end segments; the first rank's where ranks differ",
               .needed = any},
        profile.sites);
  const auto of_modules = [&](const char* name, const char* description, bool needed, std::string Module::*what) {
    std::vector<std::string> texts;
    for (const Module& module : profile.modules) texts.push_back(module.*what);
    visit(
        Column{.name = name, .over = "module", .description = description, .since = 2, .needed = needed},
        static_cast<std::conditional_t<std::is_const_v<P>, const std::vector<std::string>&, std::vector<std::string>&>>(
            texts));
    if constexpr (!std::is_const_v<P>) {
      profile.modules.resize(texts.size());
      for (std::size_t i = 0; i < texts.size(); ++i) profile.modules[i].*what = std::move(texts[i]);
    }
  };
  of_modules("modules", "programs and libraries of the call sites, on the first rank", false, &Module::name);
  of_modules("module_paths", "paths of the modules", !profile.modules.empty(), &Module::path);
  of_modules("module_build_ids", "GNU build-ids of the modules, in hexadecimal digits", !profile.modules.empty(),
             &Module::build_id);
  visit(
      Column{.name = "composed_of", .over = "run", .description = "profiles of the runs that this one is composed of"},
      profile.composed_of);
}

/// Columns with one value per segment. `visit(column, values)`. The tables must be visited first: indices must be below
/// their lengths.
template <class P, class Visit>
void for_each_segment_column(P& profile, Visit&& visit) {
  const bool any = profile.segments > 0;
  for_each_measure_column(profile, [&](const MeasureColumn& column, auto& values) {
    const MeasureInfo& info = measures[index_of(column.measure)];
    const bool is_injected = info.kept == Kept::with_intm;
    visit(Column{.name = std::string(column.name),
                 .over = std::string(over_segments),
                 .units = info.unit == MeasuredIn::numbers ? "1" : "s",
                 .description = std::string(column.description),
                 .since = column.since,
                 .needed = is_injected ? !profile.injected.critical.empty() : any && column.since == 1,
                 .values = info.unit == MeasuredIn::numbers ? Values::of_segment : Values::seconds},
          values);
  });
  const auto index = [&](std::string name, std::string description, auto& values, std::uint64_t below, bool needed) {
    visit(Column{.name = std::move(name),
                 .over = std::string(over_segments),
                 .units = "1",
                 .description = std::move(description),
                 .needed = needed,
                 .values = Values::index,
                 .below = below},
          values);
  };
  index("last_rank", "rank that held the others up", profile.last_rank, static_cast<std::uint64_t>(profile.ranks), any);
  index("site", "call site of the boundary that ended the segment: index into sites", profile.site,
        profile.sites.size(), profile.sites.size() > 1);
  for (const FeatureInfo& info : features) {
    auto& feature = profile.features[index_of(info.feature)];
    index(std::string(info.name), std::string(info.description) + ": index into " + bins_name(info), feature.index,
          feature.bins.size(), feature.bins.size() > 1);
  }
  for_each_work_of_rank(profile, [&](const std::string& name, std::string_view which, auto& work) {
    visit(Column{.name = name,
                 .over = std::string(over_segments),
                 .units = "1",
                 .description = "computation, " + std::string(which) + ": index into " + name + "_bins",
                 .since = 5,
                 .needed = work.bins.size() > 1,
                 .values = Values::index,
                 .below = work.bins.size()},
          work.index);
  });
  index("source", "run whose times the segment has: index into composed_of", profile.source, profile.composed_of.size(),
        !profile.composed_of.empty());
}

template <class P, class Visit>
void for_each_column(P& profile, Visit&& visit) {
  for_each_rank_column(profile, visit);
  for_each_section_column(profile.sections, visit);
  for_each_column_of_witness(profile.witnessed, visit);
  for_each_table(profile, visit);
  for_each_segment_column(profile, visit);
}

}  // namespace halcyon
