#include "report/series/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/estimate/estimators.hpp"
#include "analyzer/statistics/quantile.hpp"
#include "libprofile/system/legible.hpp"
#include "libprofile/system/plural.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace halcyon {
namespace {

using nlohmann::ordered_json;

std::string row(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string head(const std::vector<std::string>& cells) {
  std::string line = row(cells) + "|";
  for (std::size_t i = 0; i < cells.size(); ++i) line += "---|";
  return line + "\n";
}

constexpr const char* not_known = "–";

std::string truth_cell(const std::optional<KnownTruth>& truth) {
  if (!truth) return not_known;
  if (!truth->uncertainty_points) return fmt::format("{:.1f}", truth->percent);
  const int digits = std::max(std::abs(truth->percent), *truth->uncertainty_points) < 99.95 ? 1 : 0;  // for 12 columns
  return fmt::format("{:.{}f} ± {:.{}f}", truth->percent, digits, *truth->uncertainty_points, digits);
}

std::string kind_cell(const ValidationSetting& setting, const PlannedRun& run) {
  if (run.kind != RunKind::disturbed) return std::string(name_of(run.kind));
  return legible(setting.disturbers[static_cast<std::size_t>(run.disturber)]);
}

std::string estimate_cell(const MethodResult& result) {
  if (result.verdict == Verdict::unknown) return "unknown";
  return fmt::format("{:.1f} ({:.1f}–{:.1f})", result.interference_percent, result.interval_percent.low,
                     result.interval_percent.high);
}

std::string classes_cell(const ValidatedRun& run) {
  const MethodResult& result = run.methods.front();
  const std::string_view estimated =
      result.verdict == Verdict::unknown ? "unknown" : class_of(result.interference_percent);
  return fmt::format("{} / {}", class_of(run.truth(Truth::measured)->percent), estimated);
}

// Quiet runs first, then injected ones by target, then those of each disturber; within each, the longest first.
std::vector<std::size_t> in_table_order(const Validation& validation) {
  std::vector<std::size_t> order(validation.runs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&validation](std::size_t a, std::size_t b) {
    const ValidatedRun& x = validation.runs[a];
    const ValidatedRun& y = validation.runs[b];
    if (x.plan.kind != y.plan.kind) return x.plan.kind < y.plan.kind;
    if (x.plan.target_percent != y.plan.target_percent) return x.plan.target_percent < y.plan.target_percent;
    if (x.plan.disturber != y.plan.disturber) return x.plan.disturber < y.plan.disturber;
    return x.run_time_seconds > y.run_time_seconds;
  });
  return order;
}

std::string runs_table(const ValidationSetting& setting, const Validation& validation) {
  const bool with_background = validation.background_percent.has_value();
  std::vector<std::string> cells{"run", "", "target %", "hits / segment", "time s"};
  const std::vector<Truth> known = validation.known_truths();
  for (const Truth truth : known) cells.push_back(fmt::format("{} %", info_of(truth).label));
  for (const Method& method : methods) cells.push_back(fmt::format("`{}` % (90 %)", method.name));
  cells.insert(cells.end(), {"class measured / estimated", "accuracy"});
  const bool with_speed = std::find(known.begin(), known.end(), Truth::at_equal_speed) != known.end();
  if (with_speed) cells.push_back("computing s");
  if (with_background) cells.insert(cells.end(), {"background before / after %", "quantum µs"});
  std::string table = head(cells);

  for (const std::size_t i : in_table_order(validation)) {
    const ValidatedRun& run = validation.runs[i];
    const bool injected = run.plan.kind == RunKind::injected;
    cells = {std::to_string(i + 1), kind_cell(setting, run.plan),
             injected ? fmt::format("{:.1f}", run.plan.target_percent) : not_known,
             injected ? fmt::format("{:.2g}", run.plan.hits_per_segment) : not_known,
             fmt::format("{:.2f}", run.run_time_seconds)};
    for (const Truth truth : known) cells.push_back(truth_cell(run.truth(truth)));
    for (const MethodResult& result : run.methods) cells.push_back(estimate_cell(result));
    const std::optional<Score> score = score_of(run, 0, Truth::measured);
    cells.insert(cells.end(), {classes_cell(run), score ? fmt::format("{:.2f}", score->accuracy) : not_known});
    if (with_speed) cells.push_back(run.computing_seconds ? fmt::format("{:.2f}", *run.computing_seconds) : not_known);
    if (with_background) {
      cells.push_back(
          run.background ? fmt::format("{:.1f} / {:.1f}", run.background->before_percent, run.background->after_percent)
                         : not_known);
      cells.push_back(run.background ? fmt::format("{:.1f}", run.background->quantum_seconds * 1e6) : not_known);
    }
    table += row(cells);
  }
  return table;
}

std::string summary_table(const Validation& validation) {
  std::string table = head({"method", "against", "judged", "accuracy median", "min", "p5", "difference pp median",
                            "p90", "in the 90 % interval", "or as near as truth is known"});
  for (const MethodSummary& summary : validation.summaries) {
    const std::size_t judged = summary.accuracy.size();
    std::vector<std::string> cells{fmt::format("`{}`", summary.method), std::string(info_of(summary.truth).label),
                                   fmt::format("{} of {}", judged, validation.runs.size())};
    if (judged == 0) {
      cells.insert(cells.end(), 7, not_known);
    } else {
      for (const double p : {0.5, 0.0, 0.05}) cells.push_back(fmt::format("{:.3f}", quantile(summary.accuracy, p)));
      for (const double p : {0.5, 0.9}) cells.push_back(fmt::format("{:.1f}", quantile(summary.difference_points, p)));
      for (const std::size_t held : {summary.covered, summary.reached}) {
        cells.push_back(fmt::format("{} of {}", held, judged));
      }
    }
    table += row(cells);
  }
  return table;
}

ordered_json or_null(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); }

ordered_json run_json(const ValidationSetting& setting, const Validation& validation, std::size_t i) {
  const ValidatedRun& run = validation.runs[i];
  const bool injected = run.plan.kind == RunKind::injected;
  ordered_json json;
  json["run"] = i + 1;
  json["kind"] = name_of(run.plan.kind);
  json["profile"] = setting.profiles[i];
  json["target_percent"] = injected ? ordered_json(run.plan.target_percent) : ordered_json();
  json["hits_per_segment"] = injected ? ordered_json(run.plan.hits_per_segment) : ordered_json();
  json["spec"] = injected ? ordered_json(setting.specs[i]) : ordered_json();
  const bool disturbed = run.plan.kind == RunKind::disturbed;
  json["seed"] = injected ? ordered_json(run.plan.seed) : ordered_json();
  json["disturber"] =
      disturbed ? ordered_json(setting.disturbers[static_cast<std::size_t>(run.plan.disturber)]) : ordered_json();
  json["disturbance"] = disturbed ? ordered_json(setting.disturbances[i]) : ordered_json();
  json["middle_seconds"] = run.middle_seconds;
  json["run_time_seconds"] = run.run_time_seconds;
  json["segments"] = run.segments;
  json["computing_seconds"] = or_null(run.computing_seconds);
  json["coverage_percent"] = run.coverage_percent;
  json["injected_percent"] = or_null(run.injected_percent);
  json["displacement_seconds"] = run.displacement_seconds;
  for (std::size_t truth = 0; truth < truth_count; ++truth) {
    const std::optional<KnownTruth>& known = run.truths[truth];
    json["truths"][std::string(truth_infos[truth].name)] =
        known ? ordered_json{{"percent", known->percent},
                             {"class", class_of(known->percent)},
                             {"uncertainty_points", or_null(known->uncertainty_points)}}
              : ordered_json();
  }
  json["background_before_percent"] = run.background ? ordered_json(run.background->before_percent) : ordered_json();
  json["background_after_percent"] = run.background ? ordered_json(run.background->after_percent) : ordered_json();
  json["quantum_seconds"] = run.background ? ordered_json(run.background->quantum_seconds) : ordered_json();
  for (std::size_t method = 0; method < run.methods.size(); ++method) {
    const MethodResult& result = run.methods[method];
    ordered_json& entry = json["methods"][std::string(result.name)];
    entry["interference_percent"] = result.interference_percent;
    entry["interference_interval_percent"] = {result.interval_percent.low, result.interval_percent.high};
    entry["verdict"] = name_of(result.verdict);
    entry["class"] = class_of(result.interference_percent);
    for (std::size_t truth = 0; truth < truth_count; ++truth) {
      const std::optional<Score> score = score_of(run, method, static_cast<Truth>(truth));
      entry["against"][std::string(truth_infos[truth].name)] =
          score ? ordered_json{{"accuracy", score->accuracy},
                               {"difference_points", score->difference_points},
                               {"in_interval", score->covered},
                               {"in_interval_as_known", score->reached}}
                : ordered_json();
    }
  }
  return json;
}

ordered_json summary_json(const MethodSummary& summary, std::size_t runs) {
  const std::size_t judged = summary.accuracy.size();
  ordered_json json;
  json["judged"] = judged;
  json["judged_percent"] = 100.0 * static_cast<double>(judged) / static_cast<double>(runs);
  const auto of = [judged](const std::vector<double>& values, double p) {
    return judged > 0 ? ordered_json(quantile(values, p)) : ordered_json();
  };
  json["accuracy"] = {
      {"median", of(summary.accuracy, 0.5)}, {"min", of(summary.accuracy, 0.0)}, {"p5", of(summary.accuracy, 0.05)}};
  json["difference_points"] = {{"median", of(summary.difference_points, 0.5)},
                               {"p90", of(summary.difference_points, 0.9)}};
  const auto share = [judged](std::size_t held) {
    return judged > 0 ? ordered_json(100.0 * static_cast<double>(held) / static_cast<double>(judged)) : ordered_json();
  };
  json["interval_coverage_percent"] = share(summary.covered);
  json["interval_coverage_as_known_percent"] = share(summary.reached);
  return json;
}

// About the truth by pairs, which is the first in all tables.
std::string how_truth_is_known(const Validation& validation) {
  const Noise& noise = validation.noise;
  if (!noise.uncertainty_points) {
    return fmt::format("{} cannot tell how well the truth is known.", plural(noise.quiet_runs, "quiet run"));
  }
  return fmt::format(
      "The truth by pairs{} is known to about {:.1f} points: nine of ten quiet runs differ from their quiet neighbours "
      "by no more than that ({:.1f} to {:.1f}, since it is estimated from {} runs).",
      validation.paired_at_equal_speed ? ", at equal speed," : "",
      std::sqrt(noise.uncertainty_points->low * noise.uncertainty_points->high), noise.uncertainty_points->low,
      noise.uncertainty_points->high, noise.quiet_runs);
}

}  // namespace

std::string_view class_of(double interference_percent) {
  switch (verdict_of(interference_percent)) {
    case Verdict::green: return "low";
    case Verdict::yellow: return "medium";
    case Verdict::red: return "high";
    case Verdict::unknown: break;
  }
  return "unknown";
}

std::string validation_markdown(const ValidationSetting& setting, const Validation& validation) {
  const ValidatedRun& fastest = validation.runs[validation.fastest];
  std::string text =
      fmt::format("`{}`: {}, {} on {}, counter {}. The fastest is run {} ({}, {:.2f} s).", legible(setting.command),
                  plural(validation.runs.size(), "run"), plural(setting.ranks, "rank"),
                  legible(fmt::format("{}", fmt::join(setting.hosts, " "))), legible(setting.counter),
                  validation.fastest + 1, kind_cell(setting, fastest.plan), fastest.run_time_seconds);
  if (validation.background_percent) {
    text += fmt::format(" The machine's background is {:.1f} %.", *validation.background_percent);
  }
  text += " " + how_truth_is_known(validation);
  if (const std::optional<std::string> objection = objection_to(validation.noise)) {
    text += fmt::format(" **Not valid: {}.**", *objection);
  }
  return text + "\n\n" + summary_table(validation) + "\n" + runs_table(setting, validation);
}

std::string validation_text(const ValidationSetting& setting, const Validation& validation) {
  std::string text = wrapped("program", command_words(setting.command));
  text += wrapped("runs", fmt::format("{}, of which {} quiet; {} on {}, counter {}", validation.runs.size(),
                                      validation.noise.quiet_runs, plural(setting.ranks, "rank"),
                                      fmt::join(setting.hosts, " "), setting.counter));
  if (validation.background_percent) {
    text += wrapped("background", fmt::format("{:.1f} %", *validation.background_percent));
  }
  text += wrapped("truth", how_truth_is_known(validation));
  if (const std::optional<std::string> objection = objection_to(validation.noise)) {
    text += wrapped("NOT VALID", *objection);
  }
  text += fmt::format("\n  {:<10}{:>10}{:>12}{:>10}{:>14}{:>10}{:>12}\n", "method", "judged", "accuracy", "",
                      "off, points", "", "in 90 %");
  text += fmt::format("  {:<10}{:>10}{:>12}{:>10}{:>14}{:>10}{:>12}\n", "", "", "median", "least", "median", "p90",
                      "interval");
  for (const MethodSummary& summary : validation.summaries) {
    if (summary.truth != Truth::paired) continue;
    const std::size_t judged = summary.accuracy.size();
    const auto of = [judged](const std::vector<double>& values, double p, int digits) {
      return judged > 0 ? fmt::format("{:.{}f}", quantile(values, p), digits) : std::string(not_known);
    };
    text += fmt::format("  {:<10}{:>10}{:>12}{:>10}{:>14}{:>10}{:>12}\n", summary.method,
                        fmt::format("{} of {}", judged, validation.runs.size()), of(summary.accuracy, 0.5, 3),
                        of(summary.accuracy, 0.0, 2), of(summary.difference_points, 0.5, 1),
                        of(summary.difference_points, 0.9, 1), fmt::format("{} of {}", summary.covered, judged));
  }
  text += fmt::format("\n  {:>3}  {:<29}{:>8}  {:>12}  {:>19}\n", "run", "", "time s", "truth %",
                      fmt::format("{} %", methods.front().name));
  for (const std::size_t i : in_table_order(validation)) {
    const ValidatedRun& run = validation.runs[i];
    const std::string what =
        run.plan.kind == RunKind::injected
            ? fmt::format("{:.0f} % in {:.2g} hits a segment", run.plan.target_percent, run.plan.hits_per_segment)
            : kind_cell(setting, run.plan);
    text += fmt::format("  {:>3}  {:<29}{:>8.2f}  {:>12}  {:>19}\n", i + 1, what, run.run_time_seconds,
                        truth_cell(run.truth(Truth::paired)), estimate_cell(run.methods.front()));
  }
  return text;
}

ordered_json validation_json(const ValidationSetting& setting, const Validation& validation) {
  ordered_json json;
  json["command"] = setting.command;
  json["ranks"] = setting.ranks;
  json["hosts"] = setting.hosts;
  json["counter"] = setting.counter;
  json["levels"] = setting.request.levels;
  json["runs_per_level"] = setting.request.runs;
  const auto is_hog = [](const std::string& disturber) { return disturber.starts_with("cpu:"); };
  json["hog_runs"] = setting.request.runs * std::count_if(setting.disturbers.begin(), setting.disturbers.end(), is_hog);
  json["disturbers"] = setting.disturbers;
  json["seed"] = setting.request.seed;
  json["calibration"] = {{"run_time_seconds", setting.calibration.run_time_seconds},
                         {"segments", setting.calibration.segments},
                         {"calls", setting.calibration.calls},
                         {"calls_per_segment", setting.calibration.calls_per_segment()}};
  json["ended_early"] = text_or_null(setting.ended_early);
  json["fastest_run"] = validation.fastest + 1;
  json["background_percent"] = or_null(validation.background_percent);
  json["paired_at_equal_speed"] = validation.paired_at_equal_speed;
  const Noise& noise = validation.noise;
  const std::optional<std::string> objection = objection_to(noise);
  json["valid"] = !objection;
  json["noise"] = {
      {"quiet_runs", noise.quiet_runs},
      {"background_percent", or_null(noise.background_percent)},
      {"uncertainty_interval_points",
       noise.uncertainty_points ? ordered_json({noise.uncertainty_points->low, noise.uncertainty_points->high})
                                : ordered_json()},
      {"objection", objection ? ordered_json(*objection) : ordered_json()}};
  json["methods"] = ordered_json::object();
  for (const MethodSummary& summary : validation.summaries) {
    json["methods"][std::string(summary.method)][std::string(info_of(summary.truth).name)] =
        summary_json(summary, validation.runs.size());
  }
  json["runs"] = ordered_json::array();
  for (std::size_t i = 0; i < validation.runs.size(); ++i) json["runs"].push_back(run_json(setting, validation, i));
  return json;
}

}  // namespace halcyon
