// halcyon search: the largest or least value of something for which a limit is still met.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/search/search.hpp"
#include "cli/commands.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/quantity.hpp"
#include "cli/launch/signal_relay.hpp"
#include "cli/series/varied_runs.hpp"
#include "report/series/search.hpp"
#include "report/series/search_page.hpp"

namespace halcyon::cli {
namespace {

// The search also ends where loads are this much nearer than the accuracy of the response.
constexpr double resolution_of_accuracy = 0.1;

struct SearchOptions {
  std::string vary;
  std::string limit;
  std::string accuracy = "90%";
  std::string confidence = default_confidence;
  std::string by = "binary";
  std::string find;
  std::string start;
  std::vector<std::string> earlier;
  bool counts_failed = false;
  int most_trials = 10;
  int most_runs = 100;
  VariedRunsOptions common;
};

// The numbers of a command: factors beside the load, such as a problem size.
std::vector<double> numbers_of(const Words& command) {
  std::vector<double> numbers;
  for (const std::string& word : command) {
    if (const std::optional<double> number = number_in(word)) numbers.push_back(*number);
  }
  return numbers;
}

// The answer of the search in a directory.
Outcome<KnownPeak> known_answer(const std::string& directory, std::size_t factors) {
  const Outcome<SeriesPurpose> purpose = RunSeries::purpose_of(directory);
  if (!purpose) return Failure{"--start-from: " + purpose.failure().message};
  KnownPeak known{.factors = numbers_of(purpose->command)};
  if (known.factors.size() != factors) {
    return Failure{fmt::format("--start-from: the command of {} has {} numbers beside the varied one, and this one {}",
                               directory, known.factors.size(), factors)};
  }
  const std::string file = (std::filesystem::path(directory) / "search.json").string();
  std::ifstream in(file);
  if (!in) return Failure{"--start-from: cannot read " + file};
  const nlohmann::json found = nlohmann::json::parse(in, nullptr, false);
  const nlohmann::json answer = found.is_object() ? found.value("answer", nlohmann::json()) : nlohmann::json();
  const nlohmann::json load = answer.is_object() ? answer.value("load", nlohmann::json()) : nlohmann::json();
  if (!load.is_number()) return Failure{"--start-from: " + file + " has no answer"};
  known.load = load.get<double>();
  return known;
}

// Where to start; nothing if the user does not say.
Outcome<std::optional<double>> start_of(const SearchOptions& options, const Words& launch, const VariedRange& varied) {
  if (!options.start.empty() && !options.earlier.empty()) return Failure{"--start and --start-from exclude each other"};
  if (!options.start.empty()) {
    const Outcome<Factor> start = parse_factor("start=" + options.start);
    if (!start) return Failure{"--start: " + start.failure().message};
    const bool is_good = start->levels.size() == 1 && start->levels.front() >= varied.range.low &&
                         start->levels.front() <= varied.range.high;
    if (!is_good) return Failure{"--start: '" + options.start + "' is no number of the range"};
    return std::optional(start->levels.front());
  }
  const std::vector<double> factors = numbers_of(launch);
  std::vector<KnownPeak> known;
  for (const std::string& directory : options.earlier) {
    Outcome<KnownPeak> answer = known_answer(directory, factors.size());
    if (!answer) return answer.failure();
    known.push_back(std::move(*answer));
  }
  std::optional<double> load = start_from(known, factors);
  if (load) load = std::clamp(varied.is_whole ? std::round(*load) : *load, varied.range.low, varied.range.high);
  return load;
}

Outcome<SearchRequest> request_of(const SearchOptions& options, const Words& launch, const VariedRange& varied) {
  const Outcome<ResponseLimit> limit = parse_limit(options.limit);
  if (!limit) return Failure{"--limit: " + limit.failure().message};
  const Outcome<double> accuracy = parse_share(options.accuracy, {0.5, 0.999});
  if (!accuracy) return Failure{"--accuracy: " + accuracy.failure().message};
  const Outcome<double> confidence = parse_share(options.confidence, {0.5, 0.999});
  if (!confidence) return Failure{"--confidence: " + confidence.failure().message};
  SearchRequest request{.range = varied.range,
                        .whole_loads = varied.is_whole,
                        .limit = *limit,
                        .accuracy = *accuracy,
                        .confidence = *confidence,
                        .region_inside = 1.0 - *accuracy,
                        .resolution = resolution_of_accuracy * (1.0 - *accuracy),
                        .most_trials = static_cast<std::size_t>(options.most_trials),
                        .most_runs = static_cast<std::size_t>(options.most_runs)};
  if (!options.find.empty()) request.aim = options.find == name_of(Aim::least) ? Aim::least : Aim::largest;
  for (const LoadPick pick : {LoadPick::linear, LoadPick::binary, LoadPick::model}) {
    if (options.by == name_of(pick)) request.pick = pick;
  }
  const Outcome<std::optional<double>> start = start_of(options, launch, varied);
  if (!start) return start.failure();
  if (*start && limit->response == Response::efficiency) {
    return Failure{std::string(options.start.empty() ? "--start-from" : "--start") +
                   ": efficiency is relative to the smallest load, which is tried first"};
  }
  request.start = *start;
  if (!options.common.read.empty() && limit->response != Response::rate) {
    return Failure{"--read gives the number of 'rate': use --limit 'rate > NUMBER'"};
  }
  return request;
}

// Ranks times seconds at the smallest load, mean over its runs.
double cost_of_smallest(const std::vector<VariedRun>& runs) {
  double smallest = 0.0;
  double sum = 0.0;
  std::size_t count = 0;
  for (const VariedRun& run : runs) {
    if (run.failed_with || (count > 0 && run.values.front() > smallest)) continue;
    if (count == 0 || run.values.front() < smallest) {
      smallest = run.values.front();
      sum = 0.0;
      count = 0;
    }
    sum += run.ranks * run.seconds();
    ++count;
  }
  return sum / static_cast<double>(count);
}

// `cost`: of the smallest load.
std::vector<Trial> trials_of(const std::vector<VariedRun>& runs, Response response, double cost) {
  std::vector<Trial> trials;
  for (const VariedRun& run : runs) {
    Trial& trial = trials.emplace_back(Trial{.load = run.values.front()});
    if (run.failed_with) continue;
    switch (response) {
      case Response::time: trial.response = run.seconds(); break;
      case Response::efficiency: trial.response = cost / (run.ranks * run.seconds()); break;
      case Response::rate: trial.response = run.printed.value_or(trial.load / run.seconds()); break;
    }
  }
  return trials;
}

// Runs of loads of the request; a search that is resumed may have had a wider range, or one of real loads.
std::vector<VariedRun> runs_within(const std::vector<VariedRun>& runs, const SearchRequest& request) {
  std::vector<VariedRun> within;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(within), [&request](const VariedRun& run) {
    const double load = run.values.front();
    return load >= request.range.low && load <= request.range.high &&
           (!request.whole_loads || load == std::round(load));
  });
  return within;
}

// Efficiency is relative to the smallest load. A search that is resumed with a wider range may not have run it.
bool lacks_smallest(const std::vector<VariedRun>& runs, const SearchRequest& request) {
  if (request.limit.response != Response::efficiency) return false;
  std::size_t count = 0;
  for (const VariedRun& run : runs) {
    if (run.values.front() > request.range.low) continue;
    if (run.failed_with) return false;
    ++count;
  }
  return count < request.fewest_trials;
}

// What is tried next; nothing if the search has ended.
std::optional<double> next_load(const std::vector<VariedRun>& runs, SearchResult& result) {
  const SearchRequest& request = result.request;
  result.runs = runs_within(runs, request);
  result.trials = trials_of(result.runs, request.limit.response, cost_of_smallest(runs));
  result.state = state_of(request, result.trials);
  if (lacks_smallest(runs, request)) {
    const bool may_run = result.runs.size() < request.most_runs;
    result.state.end = may_run ? std::nullopt : std::optional(SearchEnd::too_many_runs);
    result.state.next = may_run ? std::optional(request.range.low) : std::nullopt;
  }
  if (!result.state.next) return std::nullopt;
  // The command gets the ends of the range as they are, but a load near one may be rounded to a number beyond it.
  return std::clamp(put_into_command(*result.state.next), request.range.low, request.range.high);
}

void make_runs(VariedRuns& series, SearchResult& result, SignalRelay& relay) {
  const Progress progress;
  while (const std::optional<double> next = next_load(series.runs(), result)) {
    const std::vector<double> values{*next};
    progress.begin(result.runs.size(), series.next_words(values));
    if (const Status made = series.make(values, relay); !made) {
      result.ended_early = made.failure().message;
      return;
    }
  }
}

int status_of(const SearchResult& result) {
  if (!result.ended_early.empty()) return bad_usage_or_file;
  switch (*result.state.end) {
    case SearchEnd::reached:
    case SearchEnd::bracketed:
    case SearchEnd::all_meet: return passed;
    case SearchEnd::none_meets: return negative_answer;
    case SearchEnd::wrong_way: return bad_usage_or_file;
    case SearchEnd::noise:
    case SearchEnd::too_many_runs: break;
  }
  return no_answer;
}

int search(const SearchOptions& options, const Words& launch) {
  if (launch.empty()) return fail("no launch command given: halcyon search [OPTIONS] -- mpirun -np {ranks} ./app");
  const Outcome<VariedRange> varied = parse_varied_range(options.vary);
  if (!varied) return fail("--vary: " + varied.failure().message);
  const Outcome<SearchRequest> request = request_of(options, launch, *varied);
  if (!request) return fail(request.failure().message);
  VariedRunsSetting setting{
      .subcommand = "search", .names = {varied->name}, .launch = launch, .keeps_failed = options.counts_failed};
  Outcome<VariedRuns> series = VariedRuns::open(std::move(setting), options.common);
  if (!series) return fail(series.failure().message);

  SearchResult result{.command = quoted(launch), .name = varied->name, .request = *request};
  SignalRelay relay;
  make_runs(*series, result, relay);
  const Status written = write_varied_results(*series, "search.json", options.common, search_text(result),
                                              search_json(result), [&result] { return search_html(result); });
  if (!written) return fail(written.failure().message);
  relay.end_as_asked();
  return status_of(result);
}

}  // namespace

void add_search(const Command& program) {
  const Command command =
      program.subcommand("search", "Find the largest load, or the least resource, that still meets a limit");
  auto options = std::make_shared<SearchOptions>();
  command.option("--vary", options->vary, "Value to vary: {NAME} in the command becomes a number from A to B")
      .placeholder("NAME=A..B")
      .required();
  command.option("--limit", options->limit, "The limit: 'time < 10 s', 'efficiency > 0.8' or 'rate > 5', see below")
      .placeholder("EXPR")
      .required();
  command
      .option("--accuracy", options->accuracy,
              "How near to the limit the mean must be: 90 accepts 9 to 10 s for `time < 10 s`")
      .placeholder("PERCENT")
      .with_default();
  add_confidence_option(command, options->confidence);
  command.option("--by", options->by, "How the next load is chosen")
      .placeholder("linear|binary|model")
      .one_of({"linear", "binary", "model"})
      .with_default();
  command.option("--find", options->find, "What to find. Default: decided by the first loads")
      .placeholder("largest|least")
      .one_of({"largest", "least"});
  command
      .option("--start", options->start, "The load to try first, such as the answer for a similar program. Default: A")
      .placeholder("N");
  command
      .option(
          "--start-from", options->earlier,
          "Start at the answer of the search in DIR. Of several, the one whose command has the nearest numbers counts")
      .placeholder("DIR")
      .repeatable();
  command.flag("--count-failed", options->counts_failed,
               "A run that fails does not meet the limit. Without this option, such a run ends the search");
  command.option("--max-trials", options->most_trials, "Maximum number of runs of one load")
      .placeholder("N")
      .from_to(2, 1000)
      .with_default();
  command.option("-M,--max-runs", options->most_runs, "Maximum number of runs of the search")
      .placeholder("N")
      .from_to(2, 100000)
      .with_default();
  add_varied_runs_options(command, options->common);
  command.notes(
      "Runs the command after '--' with different loads, at least two runs of each, until the answer is known.\n"
      "A shell's ${NAME} in the command stays as it is.\n"
      "time is the undisturbed time of a run, or its measured time if it has no verdict. efficiency is (ranks x\n"
      "time) of the smallest load, divided by (ranks x time) of the run. rate is the number that --read takes from\n"
      "the output, or the load per second.\n"
      "Exit status: 3 no load meets the limit, 4 not accurate enough.\n"
      "Examples:\n"
      "  halcyon search --vary N=100..10000 --limit 'time < 10 s' -- mpirun -np 4 ./app {N}\n"
      "  halcyon search --vary ranks=1..64 --limit 'efficiency > 0.8' -- mpirun -np {ranks} ./app input\n"
      "  halcyon search --vary N=1..500 --limit 'rate > 5' --read 'rate: ([0-9.]+)' -- mpirun -np 4 ./app {N}");
  command.starts([options](const Words& launch) { return search(*options, launch); });
}

}  // namespace halcyon::cli
