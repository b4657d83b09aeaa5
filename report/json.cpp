#include "report/json.hpp"

#include "analyzer/known/known_displacement.hpp"

#include <cmath>
#include <numeric>
#include <nlohmann/json.hpp>
#include <utility>

#include "analyzer/attribution/efficiency.hpp"
#include "analyzer/evidence/time_shares.hpp"
#include "analyzer/machine/background.hpp"
#include "libprofile/system/legible.hpp"

namespace halcyon {

using nlohmann::ordered_json;

namespace {

// An unknown number is null.
ordered_json known(double value, std::string_view units) {
  if (!std::isfinite(value)) return ordered_json();
  const bool is_whole = value == std::floor(value);  // a mean of numbers may not be
  return units == "1" && is_whole ? ordered_json(static_cast<std::uint64_t>(value)) : ordered_json(value);
}

std::string key_of(const EvidenceInfo& info) { return std::string(info.name) + (info.units == "s" ? "_seconds" : ""); }

// What the operating system counted for each rank, or for each host.
ordered_json evidence_json(const Profile& profile, bool of_hosts) {
  const std::vector<std::string> hosts = profile.hosts();
  const std::size_t count = of_hosts ? hosts.size() : static_cast<std::size_t>(profile.ranks);
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back(of_hosts ? ordered_json{{"host", hosts[i]}} : ordered_json{{"rank", i}});
  }
  for (const EvidenceInfo& info : evidence_infos) {
    if (info.of_host != of_hosts) continue;
    const std::vector<double> values =
        of_hosts ? profile.by_host(info.evidence) : profile.evidence[index_of(info.evidence)];
    for (std::size_t i = 0; i < count; ++i) {
      list[i][key_of(info)] = values.empty() ? ordered_json() : known(values[i], info.units);
    }
  }
  return list;
}

ordered_json kinds_json(const SecondsByKind& kinds) {
  ordered_json json = ordered_json::object();
  for (std::size_t i = 0; i < excess_kind_count; ++i) json[std::string(excess_kind_names[i])] = kinds[i];
  return json;
}

// All times are in seconds; kinds, ranks, hosts, windows and groups each add up to `excess_seconds`.
ordered_json breakdown_json(const Profile& profile, const Breakdown& breakdown) {
  ordered_json json;
  json["excess_seconds"] = breakdown.seconds;
  json["kinds"] = kinds_json(breakdown.kinds);
  json["ranks"] = ordered_json::array();
  for (const RankShare& share : breakdown.ranks) {
    json["ranks"].push_back({{"rank", share.rank},
                             {"host", text_or_null(profile.rank_host[share.rank])},
                             {"seconds", share.seconds},
                             {"kinds", kinds_json(share.kinds)}});
  }
  json["hosts"] = ordered_json::array();
  for (const HostShare& share : breakdown.hosts) {
    json["hosts"].push_back({{"host", share.host}, {"seconds", share.seconds}});
  }
  json["windows"] = ordered_json::array();
  for (std::size_t i = 0; i < window_count; ++i) {
    json["windows"].push_back(
        {{"from_seconds", static_cast<double>(i) * breakdown.window_seconds}, {"seconds", breakdown.windows[i]}});
  }
  json["groups"] = ordered_json::array();
  for (const GroupShare& group : breakdown.groups) {
    const auto place = profile.places.find(group.site);
    const bool is_known = place != profile.places.end();
    const bool has_source = is_known && !place->second.source.empty();
    json["groups"].push_back({{"site", group.site},
                              {"function", is_known ? ordered_json(place->second.function) : ordered_json()},
                              {"source", has_source ? ordered_json(place->second.source) : ordered_json()},
                              {"segments", group.segments},
                              {"baseline_seconds", group.baseline_seconds},
                              {"seconds", group.seconds}});
  }
  if (breakdown.other_groups > 0) {
    json["groups"].push_back({{"other_groups", breakdown.other_groups}, {"seconds", breakdown.other_groups_seconds}});
  }
  json["evidence"] = {
      {"off_cpu_seconds", breakdown.off_cpu_seconds ? ordered_json(*breakdown.off_cpu_seconds) : ordered_json()},
      {"ranks", evidence_json(profile, false)},
      {"hosts", evidence_json(profile, true)}};
  return json;
}

ordered_json witness_json(const Witnessed& witnessed) {
  if (witnessed.by.empty()) return {};
  ordered_json parties = ordered_json::array();
  for (std::size_t i = 0; i < witnessed.parties(); ++i) {
    parties.push_back(party_json(witnessed.party(i), witnessed.had_seconds[i], witnessed.waited_seconds));
  }
  return {{"by", witnessed.by},
          {"seconds", witnessed.seconds},
          {"waited_seconds", witnessed.waited_seconds},
          {"parties", std::move(parties)}};
}

ordered_json known_runs_json(const Profile& profile, const Analysis& analysis) {
  if (!analysis.known_runs || !(profile.run_time_seconds > 0.0)) return {};
  const KnownRuns& known = *analysis.known_runs;
  const auto percent = [&profile](double seconds) { return 100.0 * seconds / profile.run_time_seconds; };
  ordered_json json{{"runs", known.runs},
                    {"displacement_percent", nullptr},
                    {"interval", nullptr},
                    {"beyond_percent", nullptr},
                    {"beyond_interval", nullptr}};
  if (knows_groups(known, profile)) {
    json["displacement_percent"] = percent(known.displacement_seconds);
    json["interval"] = {percent(known.low_seconds), percent(known.high_seconds)};
  }
  if (const auto& parts = known.of_parts) {
    json["beyond_percent"] = percent(parts->beyond_seconds);
    json["beyond_interval"] = {percent(parts->low_seconds), percent(parts->high_seconds)};
  }
  return json;
}

ordered_json phases_json(const std::optional<Phases>& phases) {
  if (!phases) return {};
  ordered_json changes = ordered_json::array();
  for (const LevelChange& change : phases->changes) {
    changes.push_back({{"from_seconds", change.from_seconds},
                       {"to_seconds", change.to_seconds},
                       {"factor", change.factor},
                       {"added_seconds", change.added_seconds},
                       {"may_be_work", change.may_be_work},
                       {"ranks", change.ranks},
                       {"hosts", change.hosts}});
  }
  return {
      {"method", "levels"},  // of older versions also others
      {"dominant", phases->dominant},
      {"startup",
       {{"until_seconds", phases->stable_from_seconds}, {"seconds", phases->stable_from_seconds}, {"judged", false}}},
      {"stable", {{"from_seconds", phases->stable_from_seconds}, {"to_seconds", phases->stable_to_seconds}}},
      {"end",
       {{"from_seconds", phases->stable_to_seconds}, {"seconds", phases->end_seconds - phases->stable_to_seconds}}},
      {"changes", std::move(changes)}};
}

// One object per host; null if nothing was probed.
ordered_json probes_json(const Profile& profile) {
  ordered_json json;
  const std::vector<HostProbes> hosts = host_probes(profile);
  for (const HostProbes& probes : hosts) {
    ordered_json host{{"host", probes.host}, {"cpu", probes.cpu}};
    for (const ProbeInfo& info : probe_infos) {
      const std::size_t i = index_of(info.probe);
      host[std::string(info.name)] = {{"seconds", known(probes.during[i], "s")},
                                      {"speed_percent", known(100.0 * probes.known[i] / probes.during[i], "s")}};
    }
    json.push_back(std::move(host));
  }
  return json;
}

ordered_json optional_json(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); }

ordered_json ranks_behind_json(const Profile& profile, const std::vector<RankBehind>& ranks) {
  ordered_json json = ordered_json::array();
  for (const RankBehind& rank : ranks) {
    json.push_back({{"rank", rank.rank},
                    {"host", text_or_null(profile.rank_host[rank.rank])},
                    {"times", rank.times},
                    {"times_interval", interval_json(rank.times_interval)},
                    {"lost_seconds", rank.lost_seconds},
                    {"lost_interval_seconds", interval_json(rank.lost_interval_seconds)},
                    {"whose", whose_names[static_cast<std::size_t>(rank.whose)]}});
  }
  return json;
}

ordered_json methods_json(const Analysis& analysis) {
  ordered_json json = ordered_json::object();
  for (const MethodResult& method : analysis.methods) {
    json[std::string(method.name)] = {{"interference_percent", method.interference_percent},
                                      {"probability_high", method.probability_high},
                                      {"verdict", name_of(method.verdict)}};
  }
  return json;
}

ordered_json unit_json(const std::optional<UnitOfWork>& unit) {
  return unit ? ordered_json{{"segments", unit->segments}, {"times", unit->times}} : ordered_json();
}

ordered_json boundaries_json(const Profile& profile) {
  ordered_json json = ordered_json::array();
  for (const BoundaryCount& count : profile.boundaries()) {
    json.push_back({{"operation", count.operation}, {"segments", count.segments}});
  }
  return json;
}

// Older profiles lack the attribute; their recorder knew all-to-all boundaries only.
std::string_view boundary_of(const Profile& profile) {
  return profile.boundary.empty() ? std::string_view("all-to-all") : std::string_view(profile.boundary);
}

ordered_json warnings_json(const Analysis& analysis) {
  ordered_json json = ordered_json::array();
  for (const Warning& warning : analysis.warnings) {
    json.push_back({{"code", warning.code}, {"message", warning.message}});
  }
  return json;
}

}  // namespace

std::string valid_utf8(const std::string& text) {
  return ordered_json::parse(ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace))
      .get<std::string>();
}

ordered_json text_or_null(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

ordered_json party_json(const Party& party, double had_seconds, double waited_seconds) {
  return {{"whose", code_of(party.whose)},
          {"program", text_or_null(party.program)},
          {"user", text_or_null(party.user)},
          {"job", text_or_null(party.job)},
          {"service", text_or_null(party.service)},
          {"seconds", had_seconds},
          {"percent", 100.0 * had_seconds / waited_seconds}};
}

ordered_json interval_json(const Interval& interval) { return ordered_json::array({interval.low, interval.high}); }

std::string to_text(const ordered_json& json) {
  return legible_lines(json.dump(2, ' ', false, ordered_json::error_handler_t::replace)) + "\n";
}

const std::vector<RunField>& run_fields() {
  using Run = const AnalyzedFile&;
  using Shape = RunField::Shape;
  static const std::vector<RunField> fields{
      {"file", "", "name of the profile", [](Run run) { return ordered_json(run.name); }},
      {"command", "", "command line of the program", [](Run run) { return ordered_json(run.profile.command); }},
      {"label", "", "words by which runs of it are told apart",
       [](Run run) { return text_or_null(run.profile.label); }},
      {"note", "", "what who recorded it wrote of it", [](Run run) { return text_or_null(run.profile.note); }},
      {"ranks", "ranks", "MPI ranks", [](Run run) { return ordered_json(run.profile.ranks); }},
      {"hosts", "", "hosts of the ranks", [](Run run) { return ordered_json(run.profile.hosts()); }, Shape::nested},
      {"segments", "segments", "number of segments", [](Run run) { return ordered_json(run.analysis.segments); }},
      {"boundary", "", "requested kind of boundary", [](Run run) { return ordered_json(boundary_of(run.profile)); }},
      {"boundaries", "", "operations that ended segments, and how many segments each ended",
       [](Run run) { return boundaries_json(run.profile); }, Shape::nested},
      {"unit", "", "the sequence of segments that recurs: how many they are, and how often it comes",
       [](Run run) { return unit_json(run.analysis.unit); }, Shape::nested},
      {"clusters", "clusters", "clusters of segments alike in work",
       [](Run run) { return ordered_json(run.analysis.clusters); }},
      {"groups", "groups", "groups of segments alike in work, communication and I/O",
       [](Run run) { return ordered_json(run.analysis.groups); }},
      {"run_time_seconds", "run_time_seconds", "time from MPI_Init to MPI_Finalize, mean over ranks",
       [](Run run) { return ordered_json(run.analysis.run_time_seconds); }},
      {"suspended_seconds", "suspended_seconds", "time in which the program was suspended, not in the run time",
       [](Run run) { return ordered_json(run.profile.suspension ? run.profile.suspension->seconds : 0.0); }},
      {"undisturbed_time_seconds", "undisturbed_time_seconds", "estimated undisturbed run time",
       [](Run run) { return ordered_json(run.analysis.undisturbed_time_seconds()); }},
      {"undisturbed_interval_seconds", "", "90 % interval of the undisturbed run time, low and high",
       [](Run run) { return interval_json(run.analysis.undisturbed_interval_seconds()); }, Shape::interval},
      {"coverage_percent", "coverage_ratio", "share of the run time of which is known whether it was lost",
       [](Run run) { return ordered_json(run.analysis.coverage_percent); }},
      {"segment_rate_hz", "segment_rate_hertz", "segments per second",
       [](Run run) { return ordered_json(run.analysis.segment_rate_hz); }},
      {"counter", "", "measure of work", [](Run run) { return ordered_json(run.profile.counter); }},
      {"verdict", "", "green, yellow, red or unknown",
       [](Run run) { return ordered_json(name_of(run.analysis.result().verdict)); }},
      {"probability_high", "probability_high_ratio", "probability that the run is highly disturbed",
       [](Run run) { return ordered_json(run.analysis.result().probability_high); }},
      {"interference_percent", "interference_ratio", "share of the run time that came from outside",
       [](Run run) { return ordered_json(run.analysis.result().interference_percent); }},
      {"interference_interval_percent", "", "90 % interval of the interference, low and high",
       [](Run run) { return interval_json(run.analysis.result().interval_percent); }, Shape::interval},
      {"instantaneous_percent", "instantaneous_ratio", "part of the interference that hits some segments",
       [](Run run) { return ordered_json(run.analysis.result().instantaneous_percent()); }},
      {"continuous_percent", "continuous_ratio", "part of the interference that hits nearly all segments",
       [](Run run) { return ordered_json(run.analysis.result().continuous_percent); }},
      {"speed_percent", "speed_ratio", "part of the interference from stretches in which the machine was slower",
       [](Run run) {
         const double percent = run.analysis.result().speed_percent;
         return percent > 0.0 ? ordered_json(percent) : ordered_json();
       }},
      {"slow_ranks_percent", "slow_ranks_ratio",
       "part of the interference from ranks that were slower than their peers all the time",
       [](Run run) { return ordered_json(run.analysis.result().slow_ranks_percent); }},
      {"peers", "", "ranks that took longer than their peers for the same work, and ranks that had more work",
       [](Run run) {
         return ordered_json{{"slower", ranks_behind_json(run.profile, run.analysis.peers.slower)},
                             {"more_work", ranks_behind_json(run.profile, run.analysis.peers.more_work)}};
       },
       Shape::nested},
      {"efficiency", "", "parallel efficiency and its factors, as POP defines them",
       [](Run run) {
         const std::optional<Efficiency> efficiency = efficiency_of(run.profile);
         const std::optional<ThreadEfficiency> threads = thread_efficiency_of(run.profile);
         if (!efficiency) return ordered_json();
         return ordered_json{{"parallel", efficiency->parallel()},
                             {"load_balance", efficiency->load_balance},
                             {"communication", efficiency->communication},
                             {"serialisation", optional_json(efficiency->serialisation)},
                             {"transfer", optional_json(efficiency->transfer)},
                             {"threads", threads ? ordered_json(threads->parallel) : ordered_json()},
                             {"threads_load_balance", threads ? ordered_json(threads->load_balance) : ordered_json()}};
       },
       Shape::nested},
      {"time_shares", "", "what all ranks together did with their time",
       [](Run run) {
         const std::optional<TimeShares> shares = time_shares(run.profile);
         if (!shares) return ordered_json();
         const double seconds = shares->file_seconds;
         const auto bytes = static_cast<double>(bytes_of_files(run.profile));
         return ordered_json{{"computation", shares->computing},
                             {"mpi", shares->in_mpi},
                             {"file_io", shares->in_files},
                             {"device", shares->on_devices},
                             {"asleep", shares->asleep},
                             {"file_bytes_per_second", seconds > 0.0 ? ordered_json(bytes / seconds) : ordered_json()}};
       },
       Shape::nested},
      {"time_spent_seconds", "", "time by kind of call, of the rank that held the others up in each segment",
       [](Run run) { return kinds_json(run.analysis.spent); }, Shape::nested},
      {"background_percent", "background_ratio", "time that a fixed loop lost just before and after the run",
       [](Run run) {
         const std::optional<Background> background = background_of(run.profile);
         return background ? ordered_json(background->percent()) : ordered_json();
       }},
      {"known_runs", "", "how far the run's medians are above the best of known runs",
       [](Run run) { return known_runs_json(run.profile, run.analysis); }, Shape::nested},
      {"witness", "", "who had the CPUs that ranks on the host of the command waited for",
       [](Run run) { return witness_json(run.profile.witnessed); }, Shape::nested},
      {"probes", "", "how fast the machine was around the run", [](Run run) { return probes_json(run.profile); },
       Shape::nested},
      {"cause", "", "what most probably disturbed the run",
       [](Run run) {
         const std::optional<Cause>& cause = run.analysis.cause;
         if (!cause) return ordered_json();
         return ordered_json{{"code", cause->code}, {"text", cause->text}, {"action", cause->action}};
       },
       Shape::nested},
      {"method", "", "method used for the verdict", [](Run run) { return ordered_json(run.analysis.result().name); }},
      {"methods", "", "the estimate of each method", [](Run run) { return methods_json(run.analysis); }, Shape::nested},
      {"breakdown", "", "where the excess went",
       [](Run run) {
         const bool is_known = run.analysis.result().verdict != Verdict::unknown;
         return is_known ? breakdown_json(run.profile, run.analysis.breakdown) : ordered_json();
       },
       Shape::nested},
      {"phases", "", "start-up, stable part and end, and changes of level",
       [](Run run) { return phases_json(run.analysis.phases); }, Shape::nested},
      {"injected_percent", "injected_ratio",
       "share of the run time that intM injected, at most this on the critical path",
       [](Run run) {
         return run.analysis.injected_percent ? ordered_json(*run.analysis.injected_percent) : ordered_json();
       }},
      {"warnings", "", "warnings of the report", [](Run run) { return warnings_json(run.analysis); }, Shape::nested},
  };
  return fields;
}

ordered_json report_json(const std::string& file, const Profile& profile, const Analysis& analysis) {
  const AnalyzedFile run{file, profile, analysis};
  ordered_json json;
  for (const RunField& field : run_fields()) json[std::string(field.name)] = field.value(run);
  return json;
}

ordered_json info_json(const std::string& file, const Profile& profile) {
  ordered_json json;
  json["schema_version"] = profile.schema_version;
  json["file"] = file;
  json["command"] = profile.command;
  json["label"] = text_or_null(profile.label);
  json["note"] = text_or_null(profile.note);
  json["ranks"] = profile.ranks;
  json["hosts"] = profile.hosts();
  json["mpi"] = profile.mpi;
  json["counter"] = profile.counter;
  json["clock"] = profile.clock;
  json["start_time"] = profile.start_time;
  json["start_nanoseconds"] = profile.start_nanoseconds > 0 ? ordered_json(profile.start_nanoseconds) : ordered_json();
  json["job"] = text_or_null(profile.job);
  json["job_step"] = text_or_null(profile.job_step);
  json["user"] = text_or_null(profile.user);
  json["project"] = text_or_null(profile.project);
  json["cluster"] = text_or_null(profile.cluster);
  json["partition"] = text_or_null(profile.partition);
  json["node_list"] = text_or_null(profile.node_list);
  json["exit_state"] = profile.exit_state;
  json["run_time_seconds"] = profile.run_time_seconds;
  json["suspended_seconds"] = profile.suspension ? profile.suspension->seconds : 0.0;
  json["suspensions"] = profile.suspension ? profile.suspension->times : 0;
  json["segments"] = profile.segments;
  json["boundary"] = boundary_of(profile);
  json["boundaries"] = boundaries_json(profile);
  ordered_json totals = ordered_json::object();
  ordered_json per_rank = ordered_json::array();
  for (int rank = 0; rank < profile.ranks; ++rank) {
    per_rank.push_back(profile.left_nothing(static_cast<std::size_t>(rank)) ? ordered_json() : ordered_json::object());
  }
  for (const FeatureInfo& info : features) {
    if (info.kind == FeatureKind::work) continue;
    const std::vector<std::uint64_t>& column = profile.totals[index_of(info.feature)];
    const std::string name(info.name);
    totals[name] = std::accumulate(column.begin(), column.end(), std::uint64_t{0});
    for (std::size_t rank = 0; rank < column.size(); ++rank) {
      if (!profile.left_nothing(rank)) per_rank[rank][name] = column[rank];
    }
  }
  json["totals"] = std::move(totals);
  json["totals_per_rank"] = std::move(per_rank);
  return json;
}

}  // namespace halcyon
