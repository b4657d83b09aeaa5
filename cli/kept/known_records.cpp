#include "cli/kept/known_records.hpp"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/kept/state_directory.hpp"
#include "report/json.hpp"

namespace halcyon::cli {
namespace {

using nlohmann::ordered_json;

constexpr int newest_record_version = 1;
// No run exceeds these.
constexpr double most_seconds = 1e12;
constexpr double most_in_segment = 0x1p64;
constexpr double most_counted = 1e15;
constexpr std::size_t most_text = 8192;

// Reads the members of a record. After the first wrong member, all others read as empty or zero.
class Members {
 public:
  explicit Members(const ordered_json& record) : record_(record) {
    if (!record.is_object()) wrong_ = "it is not an object";
  }

  const std::string& wrong() const { return wrong_; }
  void refuse(const std::string& name) {
    if (wrong_.empty()) wrong_ = "its " + name + " is impossible";
  }
  bool has(const char* name) const { return wrong_.empty() && record_.contains(name); }

  std::string text(const char* name) {
    const ordered_json* member = find(name);
    if (member == nullptr || !member->is_string() || member->get_ref<const std::string&>().size() > most_text) {
      refuse(name);
      return {};
    }
    return member->get<std::string>();
  }
  double number(const char* name, double least, double most) {
    const ordered_json* member = find(name);
    if (member == nullptr || !member->is_number()) {
      refuse(name);
      return 0.0;
    }
    const auto value = member->get<double>();
    if (value >= least && value <= most) return value;
    refuse(name);  // also for NaN
    return least;
  }
  double seconds(const char* name) { return number(name, std::numeric_limits<double>::min(), most_seconds); }
  std::uint64_t count(const char* name) {
    const double value = number(name, 1.0, most_counted);
    if (value != std::floor(value)) refuse(name);
    return wrong_.empty() ? static_cast<std::uint64_t>(value) : 0;
  }
  const ordered_json* list(const char* name, std::size_t most) {
    const ordered_json* member = find(name);
    if (member != nullptr && member->is_array() && member->size() <= most) return member;
    refuse(name);
    return nullptr;
  }
  const ordered_json* object(const char* name) {
    const ordered_json* member = find(name);
    if (member != nullptr && member->is_object()) return member;
    refuse(name);
    return nullptr;
  }
  void check_kind(const char* kind) {
    if (text("kind") != kind) refuse("kind");
    if (number("version", 1.0, 1e9) > newest_record_version) wrong_ = "it was written by a newer halcyon";
  }

 private:
  const ordered_json* find(const char* name) const {
    if (!wrong_.empty()) return nullptr;
    const auto found = record_.find(name);
    return found != record_.end() ? &*found : nullptr;
  }

  const ordered_json& record_;
  std::string wrong_;
};

// Leaves out what is zero.
ordered_json features_of(const GroupDescription& group) {
  ordered_json json = ordered_json::object();
  for (const FeatureInfo& info : features) {
    const std::size_t at = index_of(info.feature);
    const std::string name(info.name);
    const FeatureRange& range = group.ranges[at];
    if (info.kind == FeatureKind::count) {
      if (group.signature.counts[at] != 0.0) json[name] = group.signature.counts[at];
    } else if (range.greatest > 0.0) {
      json[name] = {range.least, range.median, range.greatest};
    }
  }
  return json;
}

void read_features(Members& members, GroupDescription& group) {
  const ordered_json* json = members.object("features");
  if (json == nullptr) return;
  Members values(*json);
  for (const FeatureInfo& info : features) {
    const std::size_t at = index_of(info.feature);
    const std::string name(info.name);
    if (!values.has(name.c_str())) continue;
    if (info.kind == FeatureKind::count) {
      group.signature.counts[at] = values.number(name.c_str(), 0.0, most_in_segment);
      continue;
    }
    const ordered_json* range = values.list(name.c_str(), 3);
    bool good = range != nullptr && range->size() == 3;
    double before = 0.0;
    for (std::size_t i = 0; good && i < range->size(); ++i) {
      good = (*range)[i].is_number();
      const double value = good ? (*range)[i].get<double>() : 0.0;
      good = good && value >= before && value <= most_in_segment;
      before = value;
    }
    if (!good) {
      values.refuse(name);
      break;
    }
    group.ranges[at] = {(*range)[0].get<double>(), (*range)[1].get<double>(), (*range)[2].get<double>()};
  }
  if (!values.wrong().empty()) members.refuse("features");
}

std::optional<KnownParts> read_parts(Members& members, std::uint64_t runs) {
  const ordered_json* json = members.object("parts");
  if (json == nullptr) return std::nullopt;
  Members values(*json);
  KnownParts known{.segments = values.count("segments"), .runs = values.count("runs")};
  const ordered_json* best = values.list("best_seconds", known_part_count);
  const ordered_json* second = values.list("second_seconds", known_part_count);
  bool good = best != nullptr && second != nullptr && best->size() == known_part_count &&
              second->size() == known_part_count && known.runs <= runs;
  for (std::size_t i = 0; good && i < known_part_count; ++i) {
    good = (*best)[i].is_number() && (*second)[i].is_number();
    if (!good) break;
    known.parts.push_back({(*best)[i].get<double>(), (*second)[i].get<double>()});
    good = known.parts[i].best >= 0.0 && known.parts[i].best <= known.parts[i].second &&
           known.parts[i].second <= most_seconds;
  }
  if (!good || !values.wrong().empty()) members.refuse("parts");
  return known;
}

std::string in_one_line(const ordered_json& record) {
  return record.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

ordered_json record_of(const KnownWork& work) {
  const Circumstances& of = work.circumstances;
  ordered_json record{{"kind", "work"},        {"version", newest_record_version},
                      {"command", of.command}, {"ranks", of.ranks},
                      {"hosts", of.hosts},     {"cpus", of.cpus},
                      {"mpi", of.mpi},         {"counter", of.counter},
                      {"threads", of.threads}, {"runs", work.runs}};
  ordered_json groups = ordered_json::array();
  for (const KnownGroup& group : work.groups) {
    ordered_json json{{"site", group.description.signature.site},   {"segments", group.description.segments},
                      {"features", features_of(group.description)}, {"runs", group.runs},
                      {"best_median_seconds", group.best_median},   {"best_error_seconds", group.best_error}};
    if (group.second_median) json["second_median_seconds"] = *group.second_median;
    groups.push_back(std::move(json));
  }
  record["groups"] = std::move(groups);
  if (work.parts) {
    ordered_json best = ordered_json::array();
    ordered_json second = ordered_json::array();
    for (const KnownPart& part : work.parts->parts) {
      best.push_back(part.best);
      second.push_back(part.second);
    }
    record["parts"] = {{"segments", work.parts->segments},
                       {"runs", work.parts->runs},
                       {"best_seconds", std::move(best)},
                       {"second_seconds", std::move(second)}};
  }
  return record;
}

ordered_json record_of(const KnownHost& host) {
  ordered_json record{
      {"kind", "host"},      {"version", newest_record_version},          {"host", host.host}, {"cpu", host.cpu},
      {"ranks", host.ranks}, {"recorder_version", host.recorder_version}, {"runs", host.runs}};
  for (const ProbeInfo& info : probe_infos) {
    const double seconds = host.best[index_of(info.probe)];
    if (!std::isnan(seconds)) record[std::string(info.name) + "_seconds"] = seconds;
  }
  return record;
}

Outcome<KnownWork> work_from(const ordered_json& record) {
  Members members(record);
  members.check_kind("work");
  KnownWork work;
  work.circumstances = {.command = members.text("command"),
                        .ranks = static_cast<int>(members.number("ranks", 1.0, 1e9)),
                        .hosts = static_cast<std::size_t>(members.number("hosts", 1.0, 1e9)),
                        .cpus = members.text("cpus"),
                        .mpi = members.text("mpi"),
                        .counter = members.text("counter")};
  // Older records do not have it.
  if (members.has("threads")) work.circumstances.threads = static_cast<int>(members.number("threads", 1.0, 1e9));
  work.runs = members.count("runs");
  const ordered_json* groups = members.list("groups", most_known_groups);
  if (groups == nullptr) return Failure{members.wrong()};
  for (const ordered_json& json : *groups) {
    Members values(json);
    KnownGroup group;
    group.description.signature.site = values.text("site");
    group.description.segments = values.count("segments");
    read_features(values, group.description);
    group.runs = values.count("runs");
    group.best_median = values.seconds("best_median_seconds");
    group.best_error = values.number("best_error_seconds", 0.0, most_seconds);
    if (values.has("second_median_seconds")) {
      group.second_median = values.number("second_median_seconds", group.best_median, most_seconds);
    }
    if (group.runs > work.runs) values.refuse("runs");
    if (!values.wrong().empty()) return Failure{"in a group, " + values.wrong()};
    work.groups.push_back(std::move(group));
  }
  if (members.has("parts")) work.parts = read_parts(members, work.runs);
  if (!members.wrong().empty()) return Failure{members.wrong()};
  return work;
}

Outcome<KnownHost> host_from(const ordered_json& record) {
  Members members(record);
  members.check_kind("host");
  KnownHost host{.host = members.text("host"),
                 .cpu = members.text("cpu"),
                 .ranks = static_cast<std::size_t>(members.count("ranks")),
                 .recorder_version = members.text("recorder_version"),
                 .runs = members.count("runs")};
  for (const ProbeInfo& info : probe_infos) {
    const std::string name = std::string(info.name) + "_seconds";
    host.best[index_of(info.probe)] =
        members.has(name.c_str()) ? members.seconds(name.c_str()) : std::numeric_limits<double>::quiet_NaN();
  }
  if (!members.wrong().empty()) return Failure{members.wrong()};
  return host;
}

Circumstances kept(Circumstances circumstances) {
  for (std::string* text : {&circumstances.command, &circumstances.cpus, &circumstances.mpi, &circumstances.counter}) {
    *text =
        valid_utf8(text->substr(0, most_text / 4));  // the replacement character is longer than the byte it replaces
  }
  return circumstances;
}

std::string text_of(KnownWork work, std::size_t most_bytes) {
  for (;;) {
    std::string text = in_one_line(record_of(work));
    if (text.size() <= most_bytes || work.groups.empty()) return text;
    work.groups.resize(work.groups.size() / 2);
  }
}

std::string text_of(const KnownHost& host) { return in_one_line(record_of(host)); }

std::string id_of(const Circumstances& of) {
  // Records of one thread keep the names that they had before threads counted.
  const std::string threads = of.threads > 1 ? " " + std::to_string(of.threads) : "";
  return record_name_of(
      {of.command, std::to_string(of.ranks), std::to_string(of.hosts), of.cpus, of.mpi, of.counter + threads});
}

std::string id_of(const KnownHost& host) {
  return record_name_of({host.host, host.cpu, std::to_string(host.ranks), host.recorder_version});
}

}  // namespace halcyon::cli
