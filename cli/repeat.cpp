// halcyon repeat: runs of one program until its time is known as well as was asked for.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.hpp"
#include "cli/console/quantity.hpp"
#include "cli/launch/rank_options.hpp"
#include "cli/series/repeat_request.hpp"
#include "cli/series/repeated_runs.hpp"
#include "report/json.hpp"
#include "report/series/quote.hpp"
#include "report/series/repetition_data.hpp"
#include "report/series/repetition_page.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

Outcome<RunSeries> open_series(const RepeatOptions& options, const Words& launch) {
  const SeriesPurpose purpose{
      .subcommand = "repeat", .command = launch, .options = options_of(options), .asked = asked_of(options)};
  if (!options.resumed.empty()) return RunSeries::resume(options.resumed, purpose);
  return options.directory.empty() ? RunSeries::begin(purpose) : RunSeries::begin(options.directory, purpose);
}

// A result that cannot be written does not prevent the others. Returns the first failure.
Status write_results(const RepeatOptions& options, const RepeatedRuns& runs) {
  Status all = Done{};
  const auto note = [&all](Status written) {
    if (all && !written) all = std::move(written);
  };
  const Repetition& repetition = runs.repetition;
  const nlohmann::ordered_json json = repetition_json(repetition);
  note(write_file((runs.series.directory() / "repeat.json").string(), to_text(json) + "\n"));
  const std::string csv = options.csv.empty() ? "" : repetition_csv(repetition);
  if (!csv.empty() && options.csv != "-") note(write_file(options.csv, csv));
  if (!options.html.empty()) note(write_file(options.html, repetition_html(repetition)));
  const std::string text =
      options.quote.empty() ? repetition_text(repetition)
                            : quote_of_series(repetition.summary, repetition.precision, quote_form_of(options.quote));
  note(print_result_anyway(options.csv == "-" ? csv : text, json, options.json));
  return all;
}

// The worst of all comparisons; a sure answer is worse than none.
int status_of(const RepeatOptions& options, const Repetition& repetition) {
  if (options.fail_on.empty()) return passed;
  int status = is_known(repetition) ? passed : no_answer;
  for (Program other = 1; other < programs_of(repetition); ++other) {
    switch (versus_verdict(repetition, other)) {
      case VersusVerdict::slower:
        if (options.fail_on != "unknown") return negative_answer;
        break;
      case VersusVerdict::faster:
        if (options.fail_on == "faster") return negative_answer;
        break;
      case VersusVerdict::unclear:
      case VersusVerdict::contradiction:
      case VersusVerdict::same: break;
    }
  }
  return status;
}

// The series writes its list, its results, and for each run a profile and logs.
bool is_of_series(const fs::path& file, const fs::path& directory) {
  const std::string name = file.filename();
  return file == directory ||
         (file.parent_path() == directory && (name == "series.json" || name == "repeat.json" || names_a_run(name)));
}

// An output must replace neither another one nor what the series keeps.
std::optional<std::string> objection_to_outputs(const RepeatOptions& options) {
  const std::string& directory = options.resumed.empty() ? options.directory : options.resumed;
  const std::initializer_list<Written> outputs{
      {"--json", options.json}, {"--csv", options.csv}, {"--html", options.html}};
  for (const Written& each : outputs) {
    if (each.where.empty() || each.where == "-" || directory.empty()) continue;
    if (is_of_series(canonical_path(each.where), canonical_path(RunSeries::place_of(directory)))) {
      return fmt::format("{}: {} belongs to the series itself: name another file", each.option, each.where);
    }
  }
  return objection_to_places(outputs);
}

int repeat(RepeatOptions options, Words launch) {
  if (!options.resumed.empty()) {
    if (!options.directory.empty()) return fail("-o and --resume exclude each other: a series stays in its directory");
    const Outcome<SeriesPurpose> purpose = RunSeries::purpose_of(options.resumed);
    if (!purpose) return fail(purpose.failure().message);
    if (launch.empty()) launch = purpose->command;
    if (const Status taken = take_over(options, *purpose); !taken) return fail(taken.failure().message);
  }
  if (launch.empty()) return fail("no launch command given: halcyon repeat [OPTIONS] -- mpirun -np 4 ./app");
  if (!options.quote.empty() && !(options.versus.empty() && options.work.empty() && !options.is_against_itself)) {
    return fail("--quote gives the time of one program: leave out --versus, --aa and --work");
  }
  const Outcome<RepeatRequest> request = request_of(options, launch);
  if (!request) return fail(request.failure().message);
  if (const std::optional<std::string> objection = objection_to_outputs(options)) return fail(*objection);
  Outcome<RunSeries> series = open_series(options, launch);
  if (!series) return fail(series.failure().message);

  RepeatedRuns runs{.series = std::move(*series)};
  std::string complaint;
  // What the best run of a program has wrong, all runs that know it share. It would not cancel against another program.
  if (!options.no_baseline && request->programs.size() == 1) runs.known = open_known(complaint);
  if (!complaint.empty()) runs.complaints.push_back(complaint);
  Repetition& repetition = runs.repetition;
  repetition.command = quoted(launch);
  repetition.directory = runs.series.directory().string();
  repetition.precision = request->precision;
  repetition.rule = request->rule;
  for (std::size_t other = 1; other < request->programs.size(); ++other) {
    repetition.others.push_back({.command = quoted(request->programs[other].command),
                                 .is_against_itself = options.is_against_itself,
                                 .summary = {},
                                 .versus = {},
                                 .false_alarm_share = {}});
  }
  if (request->work) {
    repetition.work = WorkSeries{.name = request->work->name, .range = request->work->range, .rate = {}};
  }
  if (const Status taken = take_over_runs(*request, runs); !taken) return fail(taken.failure().message);
  if (!repetition.runs.empty()) tell(fmt::format("continuing after {}", plural(repetition.runs.size(), "run")));

  const Status ended = make_runs(*request, runs);
  const Status written = repetition.runs.empty() ? Status(Done{}) : write_results(options, runs);
  for (const std::string& each : runs.complaints) tell(each);
  if (!written) fail(written.failure().message);
  if (!ended) fail(ended.failure().message);
  if (!repetition.runs.empty()) {
    tell((written ? "profiles, logs and repeat.json are in " : "profiles and logs are in ") + repetition.directory +
         (ended && written ? "" : "; continue with --resume " + repetition.directory));
  } else if (runs.signals.asked_to_end() != 0) {
    tell("interrupted before a run had ended; continue with --resume " + repetition.directory);
  }
  runs.signals.end_as_asked();
  return ended && written ? status_of(options, repetition) : int{bad_usage_or_file};
}

}  // namespace

void add_repeat(const Command& program) {
  const Command command = program.subcommand("repeat", "Run a program until its time is known well enough");
  auto options = std::make_shared<RepeatOptions>();
  const auto not_empty = [](const std::string& text) { return text.empty() ? std::string("it is empty") : ""; };
  command
      .option("--within", options->within,
              fmt::format("Stop when the interval of the mean is at most ± this wide. Default: {}", default_within))
      .placeholder("PERCENT")
      .check(objection_to_within);
  add_confidence_option(command, options->confidence);
  command
      .option(
          "-m,--min-runs", options->least_runs,
          fmt::format("Make at least N runs, or rounds of all programs. By default {}, but not more than --max-runs",
                      default_least_runs))
      .placeholder("N")
      .from_to(2, most_runs_of_a_series);
  command.option("-M,--max-runs", options->most_runs, "Make at most N runs, or rounds")
      .placeholder("N")
      .from_to(2, most_runs_of_a_series);
  command.option("-r,--runs", options->exact_runs, "Make exactly N runs, or rounds")
      .placeholder("N")
      .from_to(2, most_runs_of_a_series);
  command.option("--for", options->most_time, "Make no run that would end later than TIME, such as 90s, 30min or 2h")
      .placeholder("TIME")
      .check(objection_to_most_time);
  command
      .option("-w,--warmup", options->warm_up,
              "Leave out the first N runs, or with auto those that differ from the rest. Default: 0")
      .placeholder("auto|N")
      .check(objection_to_warm_up);
  command.option("--prepare", options->prepare, "Shell command to run before each run")
      .placeholder("COMMAND")
      .check(not_empty);
  command
      .option("--versus", options->versus,
              "Launch command of another program, B, which is compared with the first one, A: their runs take turns. "
              "May be repeated: C, D")
      .placeholder("COMMAND")
      .repeatable()
      .check(not_empty);
  command.flag("--aa", options->is_against_itself,
               "Compare the program with itself: how often does this machine cause a false alarm?");
  command
      .option("--work", options->work,
              "Vary the amount of work, which replaces {NAME} in the launch command; find the cost of a unit")
      .placeholder("NAME=FROM..TO")
      .check(objection_to_work);
  command
      .option("--fail-on", options->fail_on,
              "Exit with 4 if the answer is not known; with 3 if one is slower than A (with 'faster', also if one is "
              "faster)")
      .one_of({"unknown", "slower", "faster"});
  command
      .option("-o,--output", options->directory,
              "New or empty directory for all results. Default: halcyon-repeat.TIMESTAMP")
      .placeholder("DIR")
      .check(not_empty);
  command
      .option("--resume", options->resumed,
              "Continue the series in DIR; what it was asked for holds unless given again")
      .placeholder("DIR")
      .check(not_empty);
  add_json_option(command, options->json);
  add_csv_option(command, options->csv, "run");
  add_html_option(command, options->html);
  add_quote_option(command, options->quote);
  add_recording_options(command, options->recording);
  add_no_baseline_flag(command, options->no_baseline);
  command.notes(
      "Runs the launch command after '--' until the mean of its undisturbed times is known to the given width. It\n"
      "shows three means: of all runs as measured, of the green and yellow ones, and of the undisturbed times.\n"
      "Exit status: with --fail-on 3 worse than allowed, 4 not known.\n"
      "Examples:\n"
      "  halcyon repeat -- mpirun -np 4 ./app input\n"
      "  halcyon repeat --within 1% --for 2h -o series -- mpirun -np 4 ./app input\n"
      "  halcyon repeat --resume series\n"
      "  halcyon repeat --versus 'mpirun -np 4 ./new input' --fail-on slower -- mpirun -np 4 ./app input\n"
      "  halcyon repeat --work N=1000..16000 -- mpirun -np 4 ./app {N}");
  command.starts([options](const Words& launch) { return repeat(*options, launch); }, FollowingProgram::optional);
}

}  // namespace halcyon::cli
