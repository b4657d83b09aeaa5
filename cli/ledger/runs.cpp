// halcyon ledger runs: the history of a program.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/console/common_options.hpp"
#include "cli/console/output.hpp"
#include "cli/ledger/commands.hpp"
#include "libprofile/system/utc.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/site/words.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

using ledger::PastRun;
using nlohmann::ordered_json;

constexpr std::size_t widest_text = 24;  // columns, of a name in a table

struct RunsOptions {
  std::string work;
  std::string database;
  std::string json;
  PeriodOptions period;
  std::uint64_t last = 50;
};

ordered_json known_number(const std::optional<double>& number) {
  return number ? ordered_json(*number) : ordered_json();
}

ordered_json past_run_json(const PastRun& past) {
  const ledger::RunRow& run = past.run;
  const bool has_estimate = run.undisturbed_seconds.has_value();
  return {
      {"run", run.key},
      {"start_time", utc_text(run.run / ledger::nanoseconds_of_a_second)},
      {"work", run.work},
      {"program", text_or_null(past.work.program)},
      {"command", text_or_null(past.work.command)},
      {"label", text_or_null(run.label)},
      {"note", text_or_null(run.note)},
      {"user", text_or_null(run.user_name)},
      {"project", text_or_null(run.project)},
      {"cluster", text_or_null(run.cluster)},
      {"partition", text_or_null(run.partition_name)},
      {"job", text_or_null(run.job)},
      {"ranks", run.ranks},
      {"hosts", past.hosts},
      {"run_time_seconds", run.run_time_seconds},
      {"undisturbed_time_seconds", known_number(run.undisturbed_seconds)},
      {"undisturbed_interval_seconds",
       has_estimate ? interval_json({*run.undisturbed_low_seconds, *run.undisturbed_high_seconds}) : ordered_json()},
      {"verdict", run.verdict},
      {"reason", text_or_null(run.no_verdict)},
      {"cause", text_or_null(run.cause)},
      {"may_be_own", run.may_be_own != 0},
      {"injected", run.is_injected != 0},
      {"exit_state", run.exit_state}};
}

std::string hosts_words(const std::vector<std::string>& hosts) {
  std::string words;
  for (std::size_t i = 0; i < hosts.size() && i < 3; ++i)
    words += (i == 0 ? "" : ", ") + briefly(hosts[i], widest_text);
  return hosts.size() > 3 ? fmt::format("{} and {} more", words, hosts.size() - 3) : words;
}

std::string past_runs_text(const std::vector<PastRun>& runs) {
  constexpr std::size_t below = 10;  // the second line of a run begins where its start does
  const auto first_line = [](std::string_view run, std::string_view start, std::string_view work,
                             std::string_view program, std::string_view ranks, std::string_view time,
                             std::string_view verdict) {
    return fmt::format("{:<8}  {:<16}  {:<8}  {:<14}  {:>6}  {:>9}  {}\n", run, start, work, program, ranks, time,
                       verdict);
  };
  std::string text = first_line("run", "start (UTC)", "work", "program", "ranks", "run time", "verdict") +
                     filled(std::string(below, ' '), below,
                            "undisturbed (90 %); early end; job; user; cause; label; note; hosts");
  for (const PastRun& past : runs) {
    const ledger::RunRow& run = past.run;
    std::string rest = run.undisturbed_seconds
                           ? fmt::format("{} ({} to {})", seconds(*run.undisturbed_seconds),
                                         seconds(*run.undisturbed_low_seconds), seconds(*run.undisturbed_high_seconds))
                           : "-";
    for (const std::string& word :
         {run.exit_state == "finalized" ? "" : run.exit_state, run.job.empty() ? "" : "job " + run.job, run.user_name,
          run.verdict == "unknown" ? run.no_verdict : run.cause, run.label, run.note}) {
      if (!word.empty()) rest += "; " + briefly(word, widest_text);
    }
    if (!past.hosts.empty()) rest += "; " + hosts_words(past.hosts);
    text += first_line(run.key.substr(0, 8), when_words(run.run, true), run.work.substr(0, 8),
                       briefly(past.work.program, 14), std::to_string(run.ranks), seconds(run.run_time_seconds),
                       run.verdict) +
            filled(std::string(below, ' '), below, rest);
  }
  return text;
}

int show_past_runs(const RunsOptions& options) {
  return with_ledger(options.database, ledger::Use::reads, [&options](ledger::Ledger& ledger) {
    const Outcome<std::vector<PastRun>> runs =
        ledger::past_runs(ledger, options.work, period_of(options.period), static_cast<std::int64_t>(options.last));
    if (!runs) return fail(runs.failure().message);
    ordered_json json = ordered_json::array();
    for (const PastRun& run : *runs) json.push_back(past_run_json(run));
    const std::string text = runs->empty() ? no_runs_words(options.period, options.work) : past_runs_text(*runs);
    const Status printed = print_result(text, json, options.json);
    return printed ? int{passed} : fail(printed.failure().message);
  });
}

}  // namespace

void add_ledger_runs(const Command& ledger) {
  const Command command = ledger.subcommand("runs", "Show the most recent runs of a program, or of all");
  auto options = std::make_shared<RunsOptions>();
  command.option("WORK", options->work,
                 "Name of a program, or the beginning of a work's (the column work). Default: all");
  add_database_option(command, options->database);
  add_period_options(command, options->period);
  command.option("--last", options->last, "At most so many").with_default();
  add_json_option(command, options->json);
  command.notes(
      "Runs of one work have the same command, ranks and number of hosts.\n"
      "Examples:\n"
      "  halcyon ledger runs --database site.db lmp\n"
      "  halcyon ledger runs --database site.db 0123abcd --since 30d --json -");
  command.does([options] { return show_past_runs(*options); });
}

}  // namespace halcyon::cli
