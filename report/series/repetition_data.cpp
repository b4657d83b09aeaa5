#include "report/series/repetition_data.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using nlohmann::ordered_json;

template <class Value>
ordered_json known_or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

// Of runs that did the same work.
ordered_json mean_json(const MeanTime& mean) {
  return {{"runs", mean.runs},
          {"mean_seconds", mean.runs > 0 ? ordered_json(mean.mean_seconds) : ordered_json()},
          {"interval_seconds", mean.interval_seconds ? interval_json(*mean.interval_seconds) : ordered_json()},
          {"half_width_percent", known_or_null(mean.half_width_percent())},
          {"floor_percent", mean.runs > 0 ? ordered_json(mean.floor_percent()) : ordered_json()},
          {"runs_needed", known_or_null(mean.runs_needed)}};
}

// Of varied work, only the number of runs means something.
ordered_json no_mean_json(const MeanTime& mean) {
  ordered_json json = mean_json({});
  json["runs"] = mean.runs;
  return json;
}

void add_means(ordered_json& json, const SeriesSummary& summary) {
  json["measured"] = mean_json(summary.measured);
  json["quiet"] = mean_json(summary.quiet);
  json["undisturbed"] = mean_json(summary.undisturbed);
  json["autocorrelation"] = summary.undisturbed.dependence.autocorrelation;
  json["subsession_runs"] = summary.undisturbed.dependence.subsession_runs;
}

void add_no_means(ordered_json& json, const SeriesSummary& summary, const WorkSeries& work) {
  json["measured"] = no_mean_json(summary.measured);
  json["quiet"] = no_mean_json(summary.quiet);
  json["undisturbed"] = no_mean_json(summary.undisturbed);
  const Dependence dependence = work.rate ? work.rate->dependence : Dependence{};
  json["autocorrelation"] = dependence.autocorrelation;
  json["subsession_runs"] = dependence.subsession_runs;
}

void add_facts(ordered_json& json, const SeriesSummary& summary) {
  json["warmup_runs"] = summary.warm_up_runs;
  json["hosts"] = summary.hosts;
  json["contradiction"] = summary.contradiction
                              ? ordered_json{{"code", name_of(summary.contradiction->code)},
                                             {"difference_percent", summary.contradiction->difference_percent}}
                              : ordered_json();
  json["caveats"] = ordered_json::array();
  for (const Caveat& caveat : summary.caveats) {
    json["caveats"].push_back({{"code", name_of(caveat.code)}, {"value", caveat.value}});
  }
}

ordered_json ratio_json(const TimeRatio& ratio) {
  return {{"ratio", ratio.pairs > 0 ? ordered_json(ratio.ratio) : ordered_json()},
          {"interval", ratio.interval ? interval_json(*ratio.interval) : ordered_json()},
          {"welch_interval", ratio.welch ? interval_json(*ratio.welch) : ordered_json()}};
}

// `times`: the key of its command and its means.
ordered_json comparison_json(const Repetition& series, Program program, const char* times) {
  const OtherProgram& other = series.others[program - 1];
  const TimeRatio& ratio = other.versus.undisturbed;
  ordered_json json = ratio_json(ratio);
  json["verdict"] = name_of(versus_verdict(series, program));
  json["pairs"] = ratio.pairs;
  json["pairs_needed"] = known_or_null(ratio.pairs_needed);
  json["floor_percent"] = ratio.pairs > 0 ? ordered_json(ratio.floor_percent()) : ordered_json();
  json["pairs_left_out"] = other.versus.pairs_left_out;
  json["attribution"] = name_of(other.versus.attribution);
  json["measured"] = ratio_json(other.versus.measured);
  json["interference"] = ratio_json(other.versus.interference);
  json["false_alarm_percent"] =
      other.false_alarm_share ? ordered_json(100.0 * *other.false_alarm_share) : ordered_json();
  json[times] = {{"command", other.command}};
  add_means(json[times], other.summary);
  add_facts(json[times], other.summary);
  return json;
}

std::string key_of(Program program) { return {static_cast<char>('a' + program)}; }

void add_comparisons(ordered_json& json, const Repetition& series) {
  json["versus"] = comparison_json(series, 1, "b");
  json["comparisons"] = ordered_json::array();
  for (Program other = 1; other < programs_of(series); ++other) {
    ordered_json each{{"program", key_of(other)}};
    each.update(comparison_json(series, other, "times"));
    json["comparisons"].push_back(std::move(each));
  }
  json["comparisons_confidence_percent"] = 100.0 * series.others.front().versus.undisturbed.confidence;
  json["ranking"] = ordered_json::array();
  for (const Place& place : ranking_of(series)) {
    json["ranking"].push_back(
        {{"program", key_of(place.program)}, {"first_place", place.first}, {"last_place", place.last}});
  }
}

ordered_json work_json(const WorkSeries& work, double within_percent) {
  ordered_json json{{"name", work.name}, {"from", work.range.from}, {"to", work.range.to}};
  const auto cost = [&work](const EstimatedCost WorkRate::*which) {
    if (!work.rate) return ordered_json();
    const EstimatedCost& estimated = (*work.rate).*which;
    return ordered_json{{"seconds", estimated.seconds}, {"interval_seconds", interval_json(interval_of(estimated))}};
  };
  json["fixed"] = cost(&WorkRate::fixed);
  json["unit"] = cost(&WorkRate::unit);
  const WorkRate rate = work.rate.value_or(WorkRate{});
  json["half_width_percent"] = known_or_null(rate.half_width_percent());
  json["floor_percent"] = known_or_null(rate.floor_percent());
  json["runs_needed"] = known_or_null(rate.runs_needed(within_percent));
  json["units_per_second"] = known_or_null(rate.units_per_second);
  // JSON has no infinity: an upper end that may be infinite is null.
  json["units_per_second_interval"] = rate.rate_interval ? interval_json(*rate.rate_interval) : ordered_json();
  json["caveats"] = ordered_json::array();
  if (work.rate) {
    for (const WorkCaveat code : work.rate->caveats) json["caveats"].push_back(name_of(code));
  }
  return json;
}

ordered_json run_json(const Repetition& series, const ListedRun& run, const std::optional<Unused>& unused) {
  const bool has_times = run.run.end != RunEnd::failed;
  const auto& undisturbed = run.run.undisturbed;
  ordered_json json{
      {"name", run.name},
      {"file", text_or_null(run.file)},
      {"run_time_seconds", has_times ? ordered_json(run.run.measured_seconds) : ordered_json()},
      {"undisturbed_time_seconds", undisturbed ? ordered_json(undisturbed->seconds) : ordered_json()},
      {"undisturbed_interval_seconds", undisturbed ? interval_json(undisturbed->interval_seconds) : ordered_json()},
      {"interference_percent", has_times ? ordered_json(run.interference_percent) : ordered_json()},
      {"verdict", name_of(run.run.verdict)},
      {"used", !unused},
      {"reason", unused ? ordered_json(name_of(*unused)) : ordered_json()}};
  if (!series.others.empty()) json["program"] = key_of(run.program);
  if (series.work) json["work"] = run.work;
  return json;
}

}  // namespace

ordered_json repetition_json(const Repetition& series) {
  ordered_json json{{"command", series.command}, {"runs", ordered_json::array()}};
  const std::vector<std::optional<Unused>> unused = unused_of(series);
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    json["runs"].push_back(run_json(series, series.runs[i], unused[i]));
  }
  if (series.work) {
    add_no_means(json, series.summary, *series.work);
  } else {
    add_means(json, series.summary);
  }
  add_facts(json, series.summary);
  json["within_percent"] = series.precision.within_percent;
  json["confidence_percent"] = 100.0 * series.precision.confidence;
  json["stopped_because"] =
      series.outlook.stopped_because ? ordered_json(name_of(*series.outlook.stopped_because)) : ordered_json();
  if (!series.others.empty()) add_comparisons(json, series);
  if (series.work) json["work"] = work_json(*series.work, series.precision.within_percent);
  return json;
}

std::string repetition_csv(const Repetition& series) {
  std::string text =
      "run,program,work,run_time_seconds,undisturbed_time_seconds,undisturbed_low_seconds,undisturbed_high_seconds,"
      "interference_percent,verdict,used,reason\n";
  const std::vector<std::optional<Unused>> unused = unused_of(series);
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    const ListedRun& run = series.runs[i];
    const bool has_times = run.run.end != RunEnd::failed;
    const auto& undisturbed = run.run.undisturbed;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(run.name), key_of(run.program),
                        series.work ? fmt::format("{:.17g}", run.work) : "",
                        has_times ? fmt::format("{:.9g}", run.run.measured_seconds) : "",
                        undisturbed ? fmt::format("{:.9g}", undisturbed->seconds) : "",
                        undisturbed ? fmt::format("{:.9g}", undisturbed->interval_seconds.low) : "",
                        undisturbed ? fmt::format("{:.9g}", undisturbed->interval_seconds.high) : "",
                        has_times ? fmt::format("{:.6g}", run.interference_percent) : "", name_of(run.run.verdict),
                        unused[i] ? "false" : "true", unused[i] ? name_of(*unused[i]) : "");
  }
  return text;
}

}  // namespace halcyon
