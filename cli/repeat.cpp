// halcyon repeat: runs of one program until its time is known as well as was asked for.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/judged_file.hpp"
#include "cli/launch/run_series.hpp"
#include "cli/progress.hpp"
#include "cli/quantity.hpp"
#include "cli/rank_options.hpp"
#include "cli/varied_runs.hpp"
#include "report/json.hpp"
#include "report/repetition.hpp"
#include "report/repetition_page.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

constexpr int most_failures_in_a_row = 3;
constexpr std::size_t repetitions_of_false_alarms = 1000;
// `run-001`: how many there will be is not known.
constexpr std::size_t most_numbered_runs = 999;

struct RepeatOptions {
  RankOptions recording;
  std::string within = "2%";
  std::string confidence = "95%";
  int least_runs = static_cast<int>(default_least_runs);
  int most_runs = 0;   // 0: no limit
  int exact_runs = 0;  // 0: as many as it takes
  std::string most_time;
  std::string warm_up = "0";
  std::string prepare;
  std::string directory;
  std::string resumed;
  std::string versus;
  bool is_against_itself = false;
  std::string work;
  std::string fail_on;
  std::string json;
  std::string csv;
  std::string html;
  bool no_baseline = false;
};

// A program of the series: what is launched, and how.
struct Launched {
  Words command;
  Launcher launcher;
};

struct VariedWork {
  std::string name;
  WorkRange range;
};

// What was asked for, checked.
struct Request {
  Launched a;
  std::optional<Launched> b;  // A against itself has the same command
  std::optional<VariedWork> work;
  Precision precision;
  StoppingRule rule;
  std::optional<std::size_t> warm_up_runs;  // none: auto
};

struct RunningSeries {
  RunSeries runs;
  SignalRelay signals;  // also while runs are evaluated, so that results are written before this process ends
  Repetition repetition;
  std::optional<KnownBefore> known;
  std::vector<std::string> complaints;
};

// -- the request

// The words of a command in a shell's syntax. Nothing is expanded.
Outcome<Words> words_of(const std::string& text) {
  Words words;
  std::string word;
  bool is_in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      if (is_in_word) words.push_back(std::move(word));
      word.clear();
      is_in_word = false;
      continue;
    }
    is_in_word = true;
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (quote != 0) return Failure{fmt::format("--versus: {} is not closed in '{}'", quote, text)};
  if (is_in_word) words.push_back(std::move(word));
  if (words.empty()) return Failure{"--versus: no launch command given"};
  return words;
}

Outcome<Launched> launched(const Words& command) {
  Outcome<Launcher> launcher = launcher_of(command);
  if (!launcher) return launcher.failure();
  return Launched{command, std::move(*launcher)};
}

// "N=1000..16000"
std::optional<VariedWork> varied_work(const std::string& text) {
  const Outcome<VariedRange> varied = parse_varied_range(text);
  if (!varied || !varied->is_whole || varied->range.low < 1.0) return std::nullopt;
  return VariedWork{varied->name,
                    {static_cast<std::uint64_t>(varied->range.low), static_cast<std::uint64_t>(varied->range.high)}};
}

Words with_amount(const Words& command, const std::string& name, std::uint64_t amount) {
  return with_values(command, {name}, {static_cast<double>(amount)});
}

Outcome<Request> request_of(const RepeatOptions& options, const Words& launch) {
  Request request;
  Outcome<Launched> a = launched(launch);
  if (!a) return a.failure();
  request.a = std::move(*a);
  if (!options.versus.empty() && options.is_against_itself) return Failure{"--aa and --versus exclude each other"};
  if (options.is_against_itself) request.b = request.a;
  if (!options.versus.empty()) {
    const Outcome<Words> words = words_of(options.versus);
    if (!words) return words.failure();
    Outcome<Launched> b = launched(*words);
    if (!b) return Failure{"--versus: " + b.failure().message};
    request.b = std::move(*b);
  }
  if (!options.fail_on.empty() && !request.b) return Failure{"--fail-on needs --versus"};
  if (!options.work.empty()) {
    if (request.b) return Failure{"--work cannot be combined with --versus or --aa"};
    request.work = *varied_work(options.work);
    if (const std::optional<std::string> objection = objection_to_command(launch, {request.work->name}, "--work")) {
      return Failure{*objection};
    }
  }
  request.precision = {.within_percent = *percent_in(options.within),
                       .confidence = 0.01 * *percent_in(options.confidence)};
  request.rule.within_percent =
      request.b ? versus_half_width_percent(request.precision.within_percent) : request.precision.within_percent;
  request.rule.least_runs = static_cast<std::size_t>(options.least_runs);
  if (options.most_runs > 0) request.rule.most_runs = static_cast<std::size_t>(options.most_runs);
  if (options.exact_runs > 0) {
    request.rule.most_runs = static_cast<std::size_t>(options.exact_runs);
    request.rule.least_runs = std::max<std::size_t>(2, *request.rule.most_runs);
  }
  if (request.rule.most_runs && *request.rule.most_runs < request.rule.least_runs && options.exact_runs == 0) {
    return Failure{fmt::format("--max-runs {} is less than --min-runs {}", options.most_runs, options.least_runs)};
  }
  if (!options.most_time.empty()) request.rule.most_seconds = *seconds_in(options.most_time);
  if (options.warm_up != "auto") request.warm_up_runs = static_cast<std::size_t>(*whole_number_in(options.warm_up));
  return request;
}

// Everything that changes the runs. How well they are to be known may change when a series is resumed.
Environment options_of(const RepeatOptions& options) {
  Environment all = rank_environment(options.recording);
  all.emplace_back("prepare", options.prepare);
  all.emplace_back("versus", options.is_against_itself ? "itself" : options.versus);
  all.emplace_back("work", options.work);
  return all;
}

// -- one run

// The name tells whose run it is, as the list of the series keeps nothing else.
std::string name_of_run(const Request& request, std::size_t number) {
  if (!request.b) return run_name(number + 1, most_numbered_runs);
  const std::size_t pair = number / 2;
  const bool is_b = (number % 2 == 1) != b_leads(pair);
  return fmt::format("{}-{:03}", is_b ? "b" : "a", pair + 1);
}

Program program_of(const std::string& name) { return name.starts_with("b-") ? Program::b : Program::a; }

std::string prefix_of(const std::string& name) { return name.substr(0, name.find('-') + 1); }

Status prepare(const RepeatOptions& options, const std::string& name, RunningSeries& series) {
  if (options.prepare.empty()) return Done{};
  const std::string log = series.runs.log_of(name + ".prepare");
  const int output = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (output < 0) return Failure{"cannot write " + log + ": " + std::strerror(errno)};
  Outcome<Job> job = Job::start({.words = {"/bin/sh", "-c", options.prepare}, .output = output});
  close(output);
  if (!job) return job.failure();
  const Outcome<JobEnd> end = series.signals.wait(*job);
  if (!end) return end.failure();
  if (end->status == 0) return Done{};
  return Failure{fmt::format("--prepare ended with status {} before {} (its output is {})", end->status, name, log)};
}

Outcome<std::string> record(const RepeatOptions& options, const Request& request, const std::string& name,
                            std::size_t number, RunningSeries& series) {
  const Launched& program = program_of(name) == Program::b ? *request.b : request.a;
  const Words command = request.work
                            ? with_amount(program.command, request.work->name, work_of_run(number, request.work->range))
                            : program.command;
  const auto make = [&](const std::string& profile, const std::string& log) {
    RecordedRunRequest run{.command = command, .launcher = program.launcher, .options = options.recording, .log = log};
    run.options.output = profile;
    return run_recorded(run, series.signals);
  };
  return series.runs.record(name, make, series.signals);
}

void take_over(ListedRun& listed, const JudgedFile& judged) {
  const Analysis& analysis = judged.analysis;
  RepeatedRun& run = listed.run;
  run.measured_seconds = analysis.run_time_seconds;
  run.verdict = analysis.result().verdict;
  run.hosts = judged.profile.hosts();
  listed.interference_percent = analysis.result().interference_percent;
  run.undisturbed.reset();
  // What says too little for a verdict gets little weight in a mean.
  if (has_estimate(analysis)) {
    run.undisturbed = {analysis.undisturbed_time_seconds(), analysis.undisturbed_interval_seconds()};
  }
}

// The list as it is in series.json, with what the profiles say.
Status add_listed(const Request& request, const cli::SeriesRun& made, RunningSeries& series, bool is_new) {
  if (made.state == RunState::interrupted || made.state == RunState::running) return Done{};
  ListedRun listed{.name = made.name, .file = made.profile, .program = program_of(made.name)};
  if (request.work) {
    listed.work = static_cast<double>(work_of_run(series.repetition.runs.size(), request.work->range));
  }
  listed.run.end = made.state == RunState::recorded ? RunEnd::finished
                   : made.state == RunState::failed ? RunEnd::failed
                                                    : RunEnd::other_work;
  if (listed.run.end != RunEnd::failed) {
    const std::string file = (series.runs.directory() / made.profile).string();
    const KnownBefore* known = series.known ? &*series.known : nullptr;
    const Outcome<JudgedFile> judged = judge_file(file, known);
    if (!judged) return judged.failure();
    if (is_new && listed.run.end == RunEnd::finished && !request.work) {
      const Outcome<bool> is_same = series.runs.count(made.name, judged->profile.segments, prefix_of(made.name));
      if (!is_same) return is_same.failure();
      if (!*is_same) {
        listed.run.end = RunEnd::other_work;
        tell(fmt::format("{} did other work than the first run: it had {} segments. It does not count", made.name,
                         judged->profile.segments));
      }
    }
    take_over(listed, *judged);
    if (is_new && known != nullptr) {
      const std::string complaint = keep(*known, *judged, file);
      if (!complaint.empty()) series.complaints.push_back(complaint);
    }
  }
  series.repetition.runs.push_back(std::move(listed));
  return Done{};
}

// What later runs have made known narrows the estimates of those before them.
Status judge_again(RunningSeries& series) {
  if (!series.known) return Done{};
  for (ListedRun& listed : series.repetition.runs) {
    if (listed.run.end == RunEnd::failed) continue;
    show_step("analyzing " + listed.name + " again");
    const Outcome<JudgedFile> judged = judge_file((series.runs.directory() / listed.file).string(), &*series.known);
    if (!judged) return judged.failure();
    take_over(listed, *judged);
  }
  show_step("");
  return Done{};
}

// -- the series

std::vector<WorkedRun> worked_runs(const Repetition& repetition) {
  std::vector<WorkedRun> runs;
  for (std::size_t i = 0; i < repetition.runs.size(); ++i) {
    const ListedRun& run = repetition.runs[i];
    if (!repetition.summary.unused[i] && run.run.undisturbed) runs.push_back({run.work, run.run.undisturbed->seconds});
  }
  return runs;
}

// The cost of a unit as a mean: more runs make its interval narrower in the same way.
KnownSoFar known_so_far(const WorkSeries& work, double confidence, double within_percent) {
  if (!work.rate) return {};
  const EstimatedCost& unit = work.rate->unit;
  MeanTime mean{.runs = work.rate->runs,
                .mean_seconds = unit.seconds,
                .interval_seconds = unit.interval_seconds,
                .confidence = confidence,
                .random_seconds = 0.5 * (unit.interval_seconds.high - unit.interval_seconds.low)};
  if (const std::optional<double> width = mean.half_width_percent(); width && unit.seconds > 0.0) {
    const double factor = *width / within_percent;
    mean.runs_needed = static_cast<std::size_t>(std::ceil(static_cast<double>(mean.runs) * factor * factor));
  }
  return halcyon::known_so_far(mean);
}

SeriesProgress progress_of(const RunningSeries& series) {
  SeriesProgress progress{.is_interrupted = series.signals.asked_to_end() != 0};
  for (const cli::SeriesRun& run : series.runs.runs()) progress.elapsed_seconds += run.seconds;
  const std::size_t made = series.runs.runs().size();
  if (made > 0) progress.seconds_per_run = progress.elapsed_seconds / static_cast<double>(made);
  return progress;
}

void evaluate(const Request& request, RunningSeries& series) {
  Repetition& repetition = series.repetition;
  const SeriesRequest asked{.precision = request.precision, .warm_up_runs = request.warm_up_runs};
  repetition.summary = summarise(runs_of(repetition, Program::a), asked);
  SeriesProgress progress = progress_of(series);
  KnownSoFar known = halcyon::known_so_far(repetition.summary.undisturbed);
  if (request.b) {
    OtherProgram& other = *repetition.other;
    other.summary = summarise(runs_of(repetition, Program::b), asked);
    const std::vector<RunPair> pairs = pairs_of(repetition);
    other.versus = compare_pairs(pairs, request.precision);
    if (other.is_against_itself) {
      other.false_alarm_share = false_alarm_share(pairs, request.precision, repetitions_of_false_alarms, /*seed=*/1);
    }
    known = halcyon::known_so_far(other.versus.undisturbed);
    progress.seconds_per_run *= 2.0;
  }
  if (repetition.work) {
    repetition.work->rate = work_rate(worked_runs(repetition), request.precision.confidence);
    known = known_so_far(*repetition.work, request.precision.confidence, request.precision.within_percent);
  }
  repetition.outlook = outlook_of(known, request.rule, progress);
}

// The runs that count towards the limits.
std::size_t counted(const Repetition& repetition) {
  if (repetition.other) return repetition.other->versus.undisturbed.pairs;
  return repetition.work && repetition.work->rate ? repetition.work->rate->runs : repetition.summary.undisturbed.runs;
}

// Makes runs until the series ends. A failure ends it early; what was recorded until then is evaluated.
Status make_runs(const RepeatOptions& options, const Request& request, RunningSeries& series) {
  const Progress progress;
  Repetition& repetition = series.repetition;
  int failures = 0;
  for (std::size_t number = repetition.runs.size();; ++number) {
    evaluate(request, series);
    const bool is_whole = !request.b || number % 2 == 0;
    if (is_whole && is_look(counted(repetition), request.rule.least_runs)) {
      if (const Status judged = judge_again(series); !judged) return judged;
      evaluate(request, series);
    }
    if (repetition.outlook.stopped_because && (is_whole || series.signals.asked_to_end() != 0)) return Done{};
    // Runs that have no estimate do not count, and would never end.
    const bool is_beyond_all = request.rule.most_runs && number >= (request.b ? 4 : 2) * *request.rule.most_runs + 4;
    if (is_beyond_all) return Failure{"too few of the runs have an estimate of their undisturbed time"};

    const std::string name = name_of_run(request, number);
    progress.begin(number, name + ", " + outlook_words(repetition));
    if (const Status prepared = prepare(options, name, series); !prepared) return prepared;
    const Outcome<std::string> profile = record(options, request, name, number, series);
    if (series.signals.asked_to_end() != 0) {
      evaluate(request, series);
      return Done{};
    }
    if (!profile) {
      show_end_of(series.runs.log_of(name));
      tell(profile.failure().message);
      if (++failures >= most_failures_in_a_row || number == 0) {
        return Failure{failures == 1 ? "the first run failed: nothing is repeated"
                                     : fmt::format("{} runs failed one after the other", failures)};
      }
      tell(name + " does not count");
    } else {
      failures = 0;
    }
    show_step("analyzing " + name);
    const auto& made = series.runs.runs();
    const auto run = std::find_if(made.begin(), made.end(), [&name](const auto& each) { return each.name == name; });
    if (const Status added = add_listed(request, *run, series, true); !added) return added;
    show_step("");
  }
}

Outcome<RunSeries> open_series(const RepeatOptions& options, const Words& launch) {
  const SeriesPurpose purpose{.subcommand = "repeat", .command = launch, .options = options_of(options)};
  if (!options.resumed.empty()) return RunSeries::resume(options.resumed, purpose);
  return RunSeries::begin(options.directory.empty() ? new_series_directory("repeat") : fs::path(options.directory),
                          purpose);
}

// -- results

Status write_results(const RepeatOptions& options, const RunningSeries& series) {
  const Repetition& repetition = series.repetition;
  const auto in_directory = [&series](const char* name) { return (series.runs.directory() / name).string(); };
  const nlohmann::ordered_json json = repetition_json(repetition);
  if (const Status kept = write_file(in_directory("repeat.json"), to_text(json) + "\n"); !kept) return kept;
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
    case VersusVerdict::slower: return worse_than_allowed;
    case VersusVerdict::unclear: return unknown_verdict;
    case VersusVerdict::faster: return options.fail_on == "faster" ? worse_than_allowed : passed;
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
  const Outcome<Request> request = request_of(options, launch);
  if (!request) return fail(request.failure().message);
  for (const std::string& file : {options.json, options.csv, options.html}) {
    if (file.empty() || file == "-") continue;
    if (const std::optional<std::string> objection = objection_to_place(file)) return fail(*objection);
  }
  Outcome<RunSeries> runs = open_series(options, launch);
  if (!runs) return fail(runs.failure().message);

  RunningSeries series{.runs = std::move(*runs)};
  std::string complaint;
  if (!options.no_baseline) series.known = open_known(complaint);
  if (!complaint.empty()) series.complaints.push_back(complaint);
  Repetition& repetition = series.repetition;
  repetition.command = quoted(launch);
  repetition.directory =
      fs::path(options.resumed.empty() ? series.runs.directory() : fs::path(options.resumed)).string();
  repetition.precision = request->precision;
  repetition.rule = request->rule;
  if (request->b) {
    repetition.other.emplace();
    repetition.other->command = quoted(request->b->command);
    repetition.other->is_against_itself = options.is_against_itself;
  }
  if (request->work)
    repetition.work = WorkSeries{.name = request->work->name, .range = request->work->range, .rate = {}};
  for (const cli::SeriesRun& made : series.runs.runs()) {
    show_step("analyzing " + made.name);
    if (const Status added = add_listed(*request, made, series, false); !added) return fail(added.failure().message);
  }
  show_step("");
  if (!repetition.runs.empty()) tell(fmt::format("going on after {}", plural(repetition.runs.size(), "run")));

  Status ended = make_runs(options, *request, series);
  if (ended) {
    if (const Status judged = judge_again(series); !judged) ended = judged.failure();
  }
  const std::optional<StoppedBecause> stopped = repetition.outlook.stopped_because;
  evaluate(*request, series);
  repetition.outlook.stopped_because = stopped;  // as it was when it was decided
  const Status written = repetition.runs.empty() ? Status(Done{}) : write_results(options, series);
  for (const std::string& each : series.complaints) tell(each);
  if (!written) fail(written.failure().message);
  if (!ended) fail(ended.failure().message);
  tell("profiles, logs and repeat.json are in " + series.runs.directory().string());
  if (const int signal = series.signals.asked_to_end(); signal != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
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
  command
      .option("--within", options->within, "How narrow the interval of the time is to be, to either side. Default: 2%")
      .placeholder("PERCENT")
      .check(percent(100.0));
  command.option("--confidence", options->confidence, "Confidence of the intervals. Default: 95%")
      .placeholder("PERCENT")
      .check(percent(100.0));
  command.option("-m,--min-runs", options->least_runs, "Make at least N runs, or pairs. Default: 5")
      .placeholder("N")
      .from_to(2, 100000);
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
              "Leave out the first N runs, or as many as differ from the rest. Default: 0")
      .placeholder("auto|N")
      .check([](const std::string& text) {
        return text == "auto" || whole_number_in(text) ? std::string() : "'" + text + "' is not auto or a whole number";
      });
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
      .option("--fail-on", options->fail_on, "Exit with status 3 if B is slower (faster: or faster), with 4 if unclear")
      .placeholder("slower|faster")
      .one_of({"slower", "faster"});
  command
      .option("-o,--output", options->directory,
              "New or empty directory for all results. Default: halcyon-repeat.TIMESTAMP")
      .placeholder("DIR");
  command.option("--resume", options->resumed, "Go on with the series in DIR").placeholder("DIR");
  command.option("--export-json", options->json, "Write the results as JSON; - prints them instead of the text")
      .placeholder("FILE");
  command.option("--export-csv", options->csv, "Write a table with one row per run").placeholder("FILE");
  add_html_option(command, options->html);
  add_recording_options(command, options->recording);
  command.flag("--no-baseline", options->no_baseline,
               "Do not compare with earlier runs of this work, and do not keep these");
  command.notes(
      "Runs the launch command after '--' until the mean of its undisturbed times is known to the given width. Three\n"
      "means stand side by side: of all runs as measured, of those that were not red, and of the undisturbed times.\n"
      "Exit status: 0 done; 2 bad usage, or runs failed (what was recorded is evaluated); with --fail-on 3 worse than\n"
      "allowed, 4 unclear.\n"
      "Examples:\n"
      "  halcyon repeat -- mpirun -np 4 ./app input\n"
      "  halcyon repeat --within 1% --for 2h -o series -- mpirun -np 4 ./app input\n"
      "  halcyon repeat --resume series\n"
      "  halcyon repeat --versus 'mpirun -np 4 ./new input' --fail-on slower -- mpirun -np 4 ./app input\n"
      "  halcyon repeat --work N=1000..16000 -- mpirun -np 4 ./app {N}");
  command.starts([options](const Words& launch) { return repeat(*options, launch); });
}

}  // namespace halcyon::cli
