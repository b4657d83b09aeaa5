// halcyon repeat: runs of one program until its time is known as well as was asked for.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console/quantity.hpp"
#include "cli/launch/rank_options.hpp"
#include "cli/series/repeat_request.hpp"
#include "cli/series/repeated_runs.hpp"
#include "report/json.hpp"
#include "report/series/repetition_data.hpp"
#include "report/series/repetition_page.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

Outcome<RunSeries> open_series(const RepeatOptions& options, const Words& launch) {
  const SeriesPurpose purpose{.subcommand = "repeat", .command = launch, .options = options_of(options)};
  if (!options.resumed.empty()) return RunSeries::resume(options.resumed, purpose);
  return RunSeries::begin(options.directory.empty() ? new_series_directory("repeat") : fs::path(options.directory),
                          purpose);
}

Status write_results(const RepeatOptions& options, const RepeatedRuns& runs) {
  const Repetition& repetition = runs.repetition;
  const nlohmann::ordered_json json = repetition_json(repetition);
  const std::string kept = (runs.series.directory() / "repeat.json").string();
  if (const Status written = write_file(kept, to_text(json) + "\n"); !written) return written;
  if (const Status printed = print_result(repetition_text(repetition), json, options.json); !printed) return printed;
  if (!options.csv.empty()) {
    const std::string csv = repetition_csv(repetition);
    const Status written = options.csv == "-" ? print_text(csv) : write_file(options.csv, csv);
    if (!written) return written;
  }
  if (!options.html.empty()) return write_file(options.html, repetition_html(repetition));
  return Done{};
}

int status_of(const RepeatOptions& options, const Repetition& repetition) {
  if (options.fail_on.empty()) return passed;
  switch (repetition.other->versus.verdict) {
    case VersusVerdict::slower: return negative_answer;
    case VersusVerdict::unclear: return no_answer;
    case VersusVerdict::faster: return options.fail_on == "faster" ? negative_answer : passed;
    case VersusVerdict::same: break;
  }
  return passed;
}

// What a series was made with, where the command line of its resumption does not say it again.
Status take_from_series(RepeatOptions& options, Words& launch) {
  const Outcome<SeriesPurpose> purpose = RunSeries::purpose_of(options.resumed);
  if (!purpose) return purpose.failure();
  if (launch.empty()) launch = purpose->command;
  for (const auto& [name, value] : purpose->options) {
    if (name == "prepare" && options.prepare.empty()) options.prepare = value;
    if (name == "work" && options.work.empty()) options.work = value;
    if (name == "versus" && options.versus.empty() && !options.is_against_itself) {
      options.is_against_itself = value == "itself";
      if (!options.is_against_itself) options.versus = value;
    }
  }
  return Done{};
}

int repeat(RepeatOptions options, Words launch) {
  if (!options.resumed.empty()) {
    if (!options.directory.empty()) return fail("-o and --resume exclude each other: a series stays in its directory");
    if (const Status taken = take_from_series(options, launch); !taken) return fail(taken.failure().message);
  }
  if (launch.empty()) return fail("no launch command given: halcyon repeat [OPTIONS] -- mpirun -np 4 ./app");
  const Outcome<RepeatRequest> request = request_of(options, launch);
  if (!request) return fail(request.failure().message);
  for (const std::string& file : {options.json, options.csv, options.html}) {
    if (file.empty() || file == "-") continue;
    if (const std::optional<std::string> objection = objection_to_place(file)) return fail(*objection);
  }
  Outcome<RunSeries> series = open_series(options, launch);
  if (!series) return fail(series.failure().message);

  RepeatedRuns runs{.series = std::move(*series)};
  std::string complaint;
  // What the best run of a program has wrong, all runs that know it share. It would not cancel against another program.
  if (!options.no_baseline && !request->b) runs.known = open_known(complaint);
  if (!complaint.empty()) runs.complaints.push_back(complaint);
  Repetition& repetition = runs.repetition;
  repetition.command = quoted(launch);
  repetition.directory = runs.series.directory().string();
  repetition.precision = request->precision;
  repetition.rule = request->rule;
  if (request->b) {
    repetition.other.emplace();
    repetition.other->command = quoted(request->b->command);
    repetition.other->is_against_itself = options.is_against_itself;
  }
  if (request->work) {
    repetition.work = WorkSeries{.name = request->work->name, .range = request->work->range, .rate = {}};
  }
  take_over_runs(*request, runs);
  if (!repetition.runs.empty()) tell(fmt::format("continuing after {}", plural(repetition.runs.size(), "run")));

  const Status ended = make_runs(*request, runs);
  const Status written = repetition.runs.empty() ? Status(Done{}) : write_results(options, runs);
  for (const std::string& each : runs.complaints) tell(each);
  if (!written) fail(written.failure().message);
  if (!ended) fail(ended.failure().message);
  tell("profiles, logs and repeat.json are in " + repetition.directory);
  runs.signals.end_as_asked();
  return ended && written ? status_of(options, repetition) : int{bad_usage_or_file};
}

}  // namespace

void add_repeat(const Command& program) {
  const Command command = program.subcommand("repeat", "Run a program until its time is known well enough");
  auto options = std::make_shared<RepeatOptions>();
  const auto percent = [](double most) {
    return [most](const std::string& text) {
      const std::optional<double> value = percent_in(text);
      return value && *value > 0.0 && *value < most
                 ? std::string()
                 : fmt::format("'{}' is not a percentage between 0 and {}", text, most);
    };
  };
  command.option("--within", options->within, "Stop when the interval of the mean is at most ± this wide")
      .placeholder("PERCENT")
      .check(percent(100.0))
      .with_default();
  command.option("--confidence", options->confidence, "Confidence of the intervals")
      .placeholder("PERCENT")
      .check(percent(100.0))
      .with_default();
  command.option("-m,--min-runs", options->least_runs, "Make at least N runs, or pairs")
      .placeholder("N")
      .from_to(2, 100000)
      .with_default();
  command.option("-M,--max-runs", options->most_runs, "Make at most N runs, or pairs")
      .placeholder("N")
      .from_to(2, 100000);
  command.option("-r,--runs", options->exact_runs, "Make exactly N runs, or pairs").placeholder("N").from_to(2, 100000);
  command.option("--for", options->most_time, "Make no run that would end later than TIME, such as 90s, 30min or 2h")
      .placeholder("TIME")
      .check([](const std::string& text) {
        return seconds_in(text) ? std::string() : "'" + text + "' is not a time such as 90s, 30min or 2h";
      });
  command
      .option("-w,--warmup", options->warm_up,
              "Leave out the first N runs, or with auto those that differ from the rest")
      .placeholder("auto|N")
      .check([](const std::string& text) {
        return text == "auto" || whole_number_in(text) ? std::string() : "'" + text + "' is not auto or a whole number";
      })
      .with_default();
  command.option("--prepare", options->prepare, "Shell command to run before each run").placeholder("COMMAND");
  command
      .option("--versus", options->versus,
              "Launch command of another program, B. Runs of both alternate, and are compared in pairs")
      .placeholder("COMMAND");
  command.flag("--aa", options->is_against_itself,
               "Compare the program with itself: how often does this machine cause a false alarm?");
  command
      .option("--work", options->work,
              "Vary the amount of work, which replaces {NAME} in the launch command; find the cost of a unit")
      .placeholder("NAME=FROM..TO")
      .check([](const std::string& text) {
        return varied_work(text) ? std::string() : "'" + text + "' is not NAME=FROM..TO with whole numbers above 0";
      });
  command
      .option("--fail-on", options->fail_on,
              "Exit with 3 if B is slower (with 'faster', also if it is faster), with 4 if unclear")
      .placeholder("slower|faster")
      .one_of({"slower", "faster"});
  command
      .option("-o,--output", options->directory,
              "New or empty directory for all results. Default: halcyon-repeat.TIMESTAMP")
      .placeholder("DIR");
  command.option("--resume", options->resumed, "Continue the series in DIR").placeholder("DIR");
  command.option("--export-json", options->json, "Write the results as JSON; - prints them instead of the text")
      .placeholder("FILE");
  command.option("--export-csv", options->csv, "Write a table with one row per run").placeholder("FILE");
  add_html_option(command, options->html);
  add_recording_options(command, options->recording);
  add_no_baseline_flag(command, options->no_baseline);
  command.notes(
      "Runs the launch command after '--' until the mean of its undisturbed times is known to the given width. It\n"
      "shows three means: of all runs as measured, of those that were not red, and of the undisturbed times.\n"
      "Exit status: 0 done; 2 bad usage, or some runs failed (the others are evaluated). With --fail-on: 3 worse than\n"
      "allowed, 4 unclear.\n"
      "Examples:\n"
      "  halcyon repeat -- mpirun -np 4 ./app input\n"
      "  halcyon repeat --within 1% --for 2h -o series -- mpirun -np 4 ./app input\n"
      "  halcyon repeat --resume series\n"
      "  halcyon repeat --versus 'mpirun -np 4 ./new input' --fail-on slower -- mpirun -np 4 ./app input\n"
      "  halcyon repeat --work N=1000..16000 -- mpirun -np 4 ./app {N}");
  command.starts([options](const Words& launch) { return repeat(*options, launch); }, FollowingProgram::optional);
}

}  // namespace halcyon::cli
