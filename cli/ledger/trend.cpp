// halcyon ledger trend: since when a work needs more time, and whether its code or the machine changed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/site/changes.hpp"
#include "cli/console/common_options.hpp"
#include "cli/console/output.hpp"
#include "cli/console/suggestion.hpp"
#include "cli/ledger/commands.hpp"
#include "cli/ledger/site.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/site/words.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

using ledger::SiteHistory;
using ledger::SiteWork;
using nlohmann::ordered_json;

struct TrendOptions {
  std::string work;
  std::string database;
  std::string json;
  PeriodOptions period;
};

constexpr std::string_view word_of(ChangeOf of) {
  return of == ChangeOf::code ? "code" : of == ChangeOf::machine ? "machine" : "unclear";
}

ordered_json days_json(const Interval& days) { return {day_json(days.low), day_json(days.high)}; }

ordered_json trend_json(const SiteWork& work, const WorkChanges& found) {
  ordered_json changes = ordered_json::array();
  for (const Change& change : found.changes) {
    changes.push_back(
        {{"of", name_of(change.of)},
         {"day", day_json(change.day)},
         {"day_interval", days_json(change.day_interval)},
         {"more_percent", change.percent},
         {"more_interval_percent", interval_json(change.interval_percent)},
         {"others", change.others},
         {"others_interval_percent", change.others_percent ? interval_json(*change.others_percent) : ordered_json()},
         {"label", text_or_null(change.label)}});
  }
  ordered_json losses = ordered_json::array();
  for (const LossChange& change : found.losses) {
    losses.push_back({{"day", day_json(change.day)},
                      {"day_interval", days_json(change.day_interval)},
                      {"more_points", change.points},
                      {"more_interval_points", interval_json(change.interval_points)}});
  }
  return {{"work", work.work.work},
          {"program", text_or_null(work.work.program)},
          {"command", text_or_null(work.work.command)},
          {"cluster", text_or_null(work.cluster)},
          {"runs", found.runs},
          {"drifts", found.drifts},
          {"changes", std::move(changes)},
          {"losses", std::move(losses)}};
}

std::string trend_text(const SiteWork& work, const WorkChanges& found) {
  std::string text =
      filled("", 2,
             fmt::format("{} ({}{}), {}", briefly(shown_name(work.work), 60), work.work.work.substr(0, 8),
                         work.cluster.empty() ? "" : " on " + briefly(work.cluster, 24), plural(found.runs, "run")));
  for (const Change& change : found.changes) text += filled("  ", 4, change_words(change));
  for (const LossChange& change : found.losses) {
    text += filled("  ", 4, loss_change_words(change));
  }
  if (found.drifts) text += "  somewhere, what it needs changes slowly: no day can be named\n";
  if (found.changes.empty() && found.losses.empty() && !found.drifts) text += "  no change is certain\n";
  return text;
}

// Which works there are, most runs first.
std::string no_such_work(const SiteHistory& history, const std::string& name) {
  std::map<std::string, std::size_t> runs;
  for (const SiteRun& run : history.runs) {
    const ledger::WorkRow& work = history.works[run.work].work;
    ++runs[work.program.empty() ? work.work.substr(0, 8) : work.program];
  }
  std::vector<std::pair<std::string, std::size_t>> programs(runs.begin(), runs.end());
  std::ranges::stable_sort(programs, std::greater(), &std::pair<std::string, std::size_t>::second);
  std::vector<std::string> names;
  for (const auto& [program, count] : programs) names.push_back(program);
  const std::string nearest = did_you_mean(name, names);
  constexpr std::size_t most_told = 8;
  std::string told = fmt::format(
      "{}",
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most_told)), ", "));
  if (names.size() > most_told) told += ", …";
  return fmt::format("the ledger has no run with an estimate of a work '{}'{}{}", name, nearest.empty() ? "." : nearest,
                     names.empty() ? " It has none at all" : " There are: " + told);
}

int show_trend(const TrendOptions& options) {
  return with_ledger(options.database, ledger::Use::reads, [&options](ledger::Ledger& ledger) {
    const Outcome<SiteHistory> history = history_for(ledger, options.period);
    if (!history) return fail(history.failure().message);
    const std::vector<std::uint32_t> works = ledger::works_named(*history, options.work);
    std::vector<WorkTrend> trends;
    if (!works.empty()) trends = trends_of(works, *history, ranking_of(*history));
    if (trends.empty()) return fail(no_such_work(*history, options.work));
    std::string text;
    ordered_json json = ordered_json::array();
    for (const WorkTrend& one : trends) {
      text += trend_text(history->works[one.work], one.changes);
      json.push_back(trend_json(history->works[one.work], one.changes));
    }
    text += left_out_words(*history);
    const Status printed = print_result(
        text, {{"works", std::move(json)}, {"runs", history->runs.size()}, {"left_out_runs", history->left_out}},
        options.json);
    return printed ? int{passed} : fail(printed.failure().message);
  });
}

}  // namespace

void add_ledger_trend(const Command& ledger) {
  const Command command =
      ledger.subcommand("trend", "Say since when a work needs more time, and whether its code or the machine changed");
  auto options = std::make_shared<TrendOptions>();
  command.option("WORK", options->work, "Name of a program, or the beginning of a work's (the column work)").required();
  add_database_option(command, options->database);
  add_period_options(command, options->period);
  add_json_option(command, options->json);
  command.notes(
      "Changes of the time that the work takes undisturbed, without what slow hosts add to it. What other works do on\n"
      "the same hosts at that time tells the machine's changes from those of the code; with fewer than five, it is\n"
      "not told. Labels of runs (run --label), such as versions, are named where one came at that time.\n"
      "Changes of what it loses to others stand apart.\n"
      "Examples:\n"
      "  halcyon ledger trend --database site.db lmp\n"
      "  halcyon ledger trend --database site.db 0123abcd --since 1y --json -");
  command.does([options] { return show_trend(*options); });
}

}  // namespace halcyon::cli
