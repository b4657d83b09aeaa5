#include "report/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_groups = 10;
constexpr double alike_share = 0.05;  // of the run time: runs that differ by less count as equally disturbed

/// One row of the table: a value of each run.
struct Row {
  std::string_view label;
  std::string a;
  std::string b;
};

std::string table(std::vector<Row> rows) {
  constexpr std::size_t widest = 80;
  for (Row& row : rows) {
    for (std::string* cell : {&row.a, &row.b}) *cell = briefly(*cell, widest);
  }
  std::size_t width = 24;  // so that most comparisons have their columns at the same place
  for (const Row& row : rows) width = std::max(width, columns_of(row.a));
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("  {:<{}}{:<{}}  {}\n", row.label, label_width, row.a, width, row.b);
  }
  return text;
}

std::string in_words(const Interval& interval) {
  return fmt::format("90 % interval {} to {}", seconds(interval.low), seconds(interval.high));
}

double percent_of_run_time(double seconds, const ComparedRun& run) {
  return run.analysis.run_time_seconds > 0.0 ? 100.0 * seconds / run.analysis.run_time_seconds : 0.0;
}

std::string which_is_faster(const Comparison& comparison) {
  const double a = comparison.a.analysis.run_time_seconds;
  const double b = comparison.b.analysis.run_time_seconds;
  const double longer = std::max(a, b);
  const double percent = longer > 0.0 ? 100.0 * std::abs(a - b) / longer : 0.0;
  constexpr double as_fast_percent = 0.1;
  if (percent < as_fast_percent) return "Both took the same time.";
  return fmt::format("{} took {} ({:.1f} %) less time.", a < b ? "A" : "B", seconds(std::abs(a - b)), percent);
}

std::string more_or_less(double more_seconds) {
  return fmt::format("{} {}", seconds(std::abs(more_seconds)), more_seconds < 0.0 ? "less" : "more");
}

// Which run is more disturbed and by how much, as far as that is known. Programs of different commands may take
// different times by themselves.
std::string which_is_more_disturbed(const Comparison& comparison, bool is_same_command) {
  for (const ComparedRun* run : {&comparison.a, &comparison.b}) {
    if (run->analysis.is_comparable()) continue;
    const Interval& displacement = comparison.displacement_interval_seconds;
    const std::string why = fmt::format("It is not known which is more disturbed: {} has no verdict [{}].",
                                        run == &comparison.a ? "A" : "B", run->analysis.no_verdict->reason.code);
    if (!excludes_zero(displacement)) return why;
    const bool is_a = displacement.low > 0.0;
    return fmt::format("{} But {}'s typical segments took {} or more longer in all.", why, is_a ? "A" : "B",
                       seconds(is_a ? displacement.low : -displacement.high));
  }
  const Interval& interval = comparison.more_disturbed_interval_seconds;
  const double more = comparison.more_disturbed_seconds;
  const ComparedRun* which = comparison.more_disturbed();
  if (which == nullptr) {
    const double most = std::max(-interval.low, interval.high);
    const bool is_known = most < alike_share * comparison.a.analysis.run_time_seconds;
    return fmt::format("{} A lost {} than B (90 % interval {} to {}).",
                       is_known ? "Both are equally disturbed." : "It is not known which is more disturbed.",
                       more_or_less(more), more_or_less(interval.low), more_or_less(interval.high));
  }
  const bool is_a = which == &comparison.a;
  const Interval by = is_a ? interval : Interval{-interval.high, -interval.low};
  const double longer =
      (is_a ? 1.0 : -1.0) * (comparison.a.analysis.run_time_seconds - comparison.b.analysis.run_time_seconds);
  const bool is_explained = longer > 0.0 && longer <= by.high;
  const char* const remark =
      !is_same_command
          ? " The commands differ: `halcyon repeat --versus` tells interference from the program's own time."
      : is_explained ? " The difference in run time is no larger."
                     : "";
  return fmt::format("{0} lost {1} more than {2}{3}, {4:.1f} % of {0}'s run time ({5}).{6}", is_a ? "A" : "B",
                     seconds(std::abs(more)), is_a ? "B" : "A", is_same_command ? " to interference" : "",
                     percent_of_run_time(std::abs(more), *which), in_words(by), remark);
}

std::string verdict_words(const Analysis& analysis) {
  const MethodResult& result = analysis.result();
  if (result.verdict == Verdict::unknown) return fmt::format("unknown [{}]", analysis.no_verdict->reason.code);
  return fmt::format("{}, {:.1f} %{}", name_of(result.verdict), result.interference_percent,
                     result.may_be_own ? " [perhaps-own]" : "");
}

std::string baseline_rise_words(const ComparedRun& run) {
  return run.baseline_rise_seconds > 0.0 ? seconds(run.baseline_rise_seconds) : "–";
}

std::string injected_words(const Analysis& analysis) {
  return analysis.injected_percent ? seconds(*analysis.injected_percent / 100.0 * analysis.run_time_seconds) : "–";
}

std::string from_outside_words(const ComparedRun& run) {
  return fmt::format("{}, {:.1f} %", seconds(run.disturbed_seconds()), run.disturbed_percent());
}

std::string hosts_words(const Profile& profile) {
  const std::vector<std::string> hosts = profile.hosts();
  return hosts.size() <= 2 ? fmt::format("{}", fmt::join(hosts, ", ")) : plural(hosts.size(), "host");
}

std::string groups_text(const Profile& a, const Comparison& comparison) {
  if (comparison.groups.empty()) return "";
  std::string text =
      fmt::format("\n  {:>12} {:>10}  {:>11} {:>10}  {:>8}\n", "displacement", "±", "median of A", "of B", "segments");
  const std::size_t shown = std::min(comparison.groups.size(), most_groups);
  for (std::size_t i = 0; i < shown; ++i) {
    const MatchedGroup& group = comparison.groups[i];
    text += fmt::format("  {:>12} {:>10}  {:>11} {:>10}  {:>8}\n", seconds(group.displacement_seconds),
                        seconds(group.displacement_interval_seconds.high - group.displacement_seconds),
                        seconds(group.a.median), seconds(group.b.median), group.a.segments);
    text += filled("      ending at ", 8, site_words(a, group.site));
  }
  if (shown < comparison.groups.size()) {
    text += fmt::format("  and {} with less displacement\n", plural(comparison.groups.size() - shown, "group"));
  }
  return text;
}

ordered_json run_json(const ComparedFile& file, const ComparedRun& run, bool is_same_work) {
  ordered_json json = report_json(file.name, file.profile, run.analysis);
  json["shared_percent"] = run.shared_percent;
  json["matched_percent"] = run.matched_percent;
  json["baseline_rise_seconds"] = is_same_work ? ordered_json(run.baseline_rise_seconds) : ordered_json();
  json["disturbed_seconds"] = is_same_work ? ordered_json(run.disturbed_seconds()) : ordered_json();
  json["disturbed_percent"] = is_same_work ? ordered_json(run.disturbed_percent()) : ordered_json();
  return json;
}

ordered_json side_json(const MatchedGroup::Side& side) {
  return {{"segments", side.segments}, {"median_seconds", side.median}, {"baseline_seconds", side.baseline}};
}

// The displacement is A's minus B's.
std::string displacement_words(const Comparison& comparison) {
  const bool is_a_longer = comparison.displacement_seconds >= 0.0;
  const Interval& difference = comparison.displacement_interval_seconds;
  const Interval longer = is_a_longer ? difference : Interval{-difference.high, -difference.low};
  const double seconds_longer = std::abs(comparison.displacement_seconds);
  return fmt::format("typical segments of {} took {} longer in all, {} % of A's run time ({})", is_a_longer ? "A" : "B",
                     seconds(seconds_longer), decimal(percent_of_run_time(seconds_longer, comparison.a), 1),
                     in_words(longer));
}

}  // namespace

std::string comparison_text(const ComparedFile& a, const ComparedFile& b, const Comparison& comparison) {
  const bool is_same_command = a.profile.command == b.profile.command;
  std::string text =
      comparison.difference
          ? "OTHER WORK  The runs did not do the same work; their times are not compared.\n"
          : filled("SAME WORK  ", 2,
                   which_is_faster(comparison) + " " + which_is_more_disturbed(comparison, is_same_command));
  text += wrapped("A", a.name) + wrapped("B", b.name);
  if (is_same_command) {
    text += wrapped("program", command_words(a.profile.command));
  } else {
    text += wrapped("program of A", command_words(a.profile.command)) +
            wrapped("program of B", command_words(b.profile.command));
  }
  for (const ComparedFile* file : {&a, &b}) {
    const std::string& state = file->profile.exit_state;
    if (state != "finalized") text += wrapped(file == &a ? "A ended early" : "B ended early", state);
  }
  if (comparison.difference) {
    const Difference& difference = *comparison.difference;
    text += wrapped("differ in", fmt::format("{} [{}]", difference.what, difference.code));
    text += wrapped("  in A", difference.in_a) + wrapped("  in B", difference.in_b);
  }

  const ComparedRun& run_a = comparison.a;
  const ComparedRun& run_b = comparison.b;
  std::vector<Row> rows{
      {"", "A", "B"},
      {"run time", seconds(run_a.analysis.run_time_seconds), seconds(run_b.analysis.run_time_seconds)},
      {"hosts", hosts_words(a.profile), hosts_words(b.profile)},
      {"verdict", verdict_words(run_a.analysis), verdict_words(run_b.analysis)}};
  if (run_a.analysis.injected_percent || run_b.analysis.injected_percent) {
    rows.push_back({"injected", injected_words(run_a.analysis), injected_words(run_b.analysis)});
  }
  if (comparison.difference) return text + "\n" + table(rows);
  rows.push_back({is_same_command ? "from outside" : "lost", from_outside_words(run_a), from_outside_words(run_b)});
  rows.push_back({"seen in the run", seconds(run_a.analysis.result().excess_seconds),
                  seconds(run_b.analysis.result().excess_seconds)});
  rows.push_back({"seen by comparing", baseline_rise_words(run_a), baseline_rise_words(run_b)});
  rows.push_back({"matched", fmt::format("{:.1f} % of the run time", run_a.matched_percent),
                  fmt::format("{:.1f} %", run_b.matched_percent)});
  text += "\n" + table(rows) + wrapped("displacement", displacement_words(comparison));
  return text + groups_text(a.profile, comparison);
}

ordered_json comparison_json(const ComparedFile& a, const ComparedFile& b, const Comparison& comparison) {
  const bool is_same_work = !comparison.difference;
  ordered_json json;
  json["same_work"] = is_same_work;
  json["difference"] = nullptr;
  if (comparison.difference) {
    const Difference& difference = *comparison.difference;
    json["difference"] = {
        {"code", difference.code}, {"what", difference.what}, {"a", difference.in_a}, {"b", difference.in_b}};
  }
  const ComparedRun* more_disturbed = comparison.more_disturbed();
  json["more_disturbed"] = nullptr;
  json["more_disturbed_seconds"] = nullptr;
  json["more_disturbed_interval_seconds"] = nullptr;
  json["displacement_seconds"] = nullptr;
  json["displacement_percent"] = nullptr;
  json["displacement_interval_seconds"] = nullptr;
  if (is_same_work) {
    if (more_disturbed != nullptr) json["more_disturbed"] = more_disturbed == &comparison.a ? "a" : "b";
    json["more_disturbed_seconds"] = comparison.more_disturbed_seconds;
    json["more_disturbed_interval_seconds"] = interval_json(comparison.more_disturbed_interval_seconds);
    json["displacement_seconds"] = comparison.displacement_seconds;
    json["displacement_percent"] = percent_of_run_time(comparison.displacement_seconds, comparison.a);
    json["displacement_interval_seconds"] = interval_json(comparison.displacement_interval_seconds);
  }
  json["a"] = run_json(a, comparison.a, is_same_work);
  json["b"] = run_json(b, comparison.b, is_same_work);
  json["groups"] = ordered_json::array();
  for (const MatchedGroup& group : comparison.groups) {
    json["groups"].push_back({{"site", group.site},
                              {"a", side_json(group.a)},
                              {"b", side_json(group.b)},
                              {"displacement_seconds", group.displacement_seconds},
                              {"displacement_percent", percent_of_run_time(group.displacement_seconds, comparison.a)},
                              {"displacement_interval_seconds", interval_json(group.displacement_interval_seconds)},
                              {"significant", excludes_zero(group.displacement_interval_seconds)}});
  }
  return json;
}

}  // namespace halcyon
