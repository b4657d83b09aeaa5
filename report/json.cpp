#include "report/json.hpp"

#include <numeric>

#include "analyzer/background.hpp"

namespace halcyon {

using nlohmann::ordered_json;

std::string to_text(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json report_json(const std::string& file, const Profile& profile, const Analysis& analysis) {
  const MethodResult& result = analysis.result();
  ordered_json json;
  json["file"] = file;
  json["command"] = profile.command;
  json["ranks"] = profile.ranks;
  json["hosts"] = profile.hosts();
  json["segments"] = analysis.segments;
  json["clusters"] = analysis.clusters;
  json["groups"] = analysis.groups;
  json["run_time_seconds"] = analysis.run_time_seconds;
  json["undisturbed_time_seconds"] = analysis.undisturbed_time_seconds();
  json["coverage_percent"] = analysis.coverage_percent;
  json["segment_rate_hz"] = analysis.segment_rate_hz;
  json["counter"] = profile.counter;
  json["verdict"] = name_of(result.verdict);
  json["probability_high"] = result.probability_high;
  json["interference_percent"] = result.interference_percent;
  json["interference_interval_percent"] = {result.interval_percent.low, result.interval_percent.high};
  const std::optional<Background> background = background_of(profile);
  json["background_percent"] = background ? ordered_json(background->percent()) : ordered_json();
  json["method"] = result.name;
  ordered_json& by_name = json["methods"] = ordered_json::object();
  for (const MethodResult& method : analysis.methods) {
    by_name[std::string(method.name)] = {{"interference_percent", method.interference_percent},
                                         {"probability_high", method.probability_high},
                                         {"verdict", name_of(method.verdict)}};
  }
  json["injected_percent"] = analysis.injected_percent ? ordered_json(*analysis.injected_percent) : ordered_json();
  json["warnings"] = ordered_json::array();
  for (const Warning& warning : analysis.warnings) {
    json["warnings"].push_back({{"code", warning.code}, {"message", warning.message}});
  }
  return json;
}

ordered_json info_json(const std::string& file, const Profile& profile) {
  ordered_json json;
  json["schema_version"] = profile.schema_version;
  json["file"] = file;
  json["command"] = profile.command;
  json["ranks"] = profile.ranks;
  json["hosts"] = profile.hosts();
  json["mpi"] = profile.mpi;
  json["counter"] = profile.counter;
  json["clock"] = profile.clock;
  json["start_time"] = profile.start_time;
  json["exit_state"] = profile.exit_state;
  json["run_time_seconds"] = profile.run_time_seconds;
  json["segments"] = profile.segments;
  ordered_json totals = ordered_json::object();
  ordered_json per_rank = ordered_json::array();
  for (int rank = 0; rank < profile.ranks; ++rank) per_rank.push_back(ordered_json::object());
  for (const FeatureInfo& info : features) {
    if (info.kind == FeatureKind::work) continue;
    const std::vector<std::uint64_t>& column = profile.totals[index_of(info.feature)];
    const std::string name(info.name);
    totals[name] = std::accumulate(column.begin(), column.end(), std::uint64_t{0});
    for (std::size_t rank = 0; rank < column.size(); ++rank) per_rank[rank][name] = column[rank];
  }
  json["totals"] = std::move(totals);
  json["totals_per_rank"] = std::move(per_rank);
  return json;
}

}  // namespace halcyon
