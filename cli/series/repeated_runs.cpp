#include "cli/series/repeated_runs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "analyzer/evidence/cpu_waits.hpp"
#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "cli/series/varied_runs.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

constexpr int most_useless_runs_in_a_row = 3;
constexpr std::size_t least_runs_before_giving_up = 2 * default_least_runs;
constexpr std::size_t repetitions_of_false_alarms = 1000;
// `run-001`: how many there will be is not known.
constexpr std::size_t most_numbered_runs = 999;

// -- one run

Words with_amount(const Words& command, const std::string& name, std::uint64_t amount) {
  return with_values(command, {name}, {static_cast<double>(amount)});
}

constexpr std::string_view prefix_of_one_program = "run-";

std::string prefix_of(Program program) { return {static_cast<char>('a' + program), '-'}; }

std::size_t round_of(const RepeatRequest& request, std::size_t number) { return number / request.programs.size(); }

Program program_of(const RepeatRequest& request, std::size_t number) {
  const std::size_t programs = request.programs.size();
  return turns_of_round(programs, round_of(request, number))[number % programs];
}

// It tells whose run it is.
std::string name_of_run(const RepeatRequest& request, std::size_t number) {
  if (request.programs.size() == 1) return run_name(number + 1, most_numbered_runs);
  return fmt::format("{}{:03}", prefix_of(program_of(request, number)), round_of(request, number) + 1);
}

std::string prefix_of(const std::string& name) { return name.substr(0, name.find('-') + 1); }

Status prepare(const RepeatRequest& request, const std::string& name, RepeatedRuns& runs) {
  if (request.prepare.empty()) return Done{};
  const std::string log = runs.series.log_of(name + ".prepare");
  const int output = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (output < 0) return Failure{"cannot write " + log + ": " + std::strerror(errno)};
  Outcome<Job> job = Job::start({.words = {"/bin/sh", "-c", request.prepare}, .output = output});
  close(output);
  if (!job) return job.failure();
  const Outcome<JobEnd> end = runs.signals.wait(*job);
  if (!end) return end.failure();
  if (end->status == 0 || runs.signals.asked_to_end() != 0) return Done{};
  return Failure{fmt::format("--prepare ended with status {} before {} (its output is {})", end->status, name, log)};
}

Outcome<std::string> record(const RepeatRequest& request, const std::string& name, std::size_t number,
                            RepeatedRuns& runs) {
  const Launched& program = request.programs[program_of(request, number)];
  const Words command = request.work
                            ? with_amount(program.command, request.work->name, work_of_run(number, request.work->range))
                            : program.command;
  const auto make = [&](const std::string& profile, const std::string& log) {
    RecordedRunRequest run{.command = command,
                           .launcher = program.launcher,
                           .options = request.recording,
                           .log = log,
                           .lock = runs.series.lock()};
    run.options.output = profile;
    return run_recorded(run, runs.signals);
  };
  return runs.series.record(name, command, make, runs.signals);
}

void take_over(ListedRun& listed, const JudgedFile& judged) {
  const Analysis& analysis = judged.analysis;
  RepeatedRun& run = listed.run;
  run.measured_seconds = analysis.run_time_seconds;
  run.lost_to_cpu_waits_seconds = lost_to_cpu_waits(judged.profile);
  run.verdict = analysis.result().verdict;
  run.hosts = judged.profile.hosts();
  listed.interference_percent = analysis.result().interference_percent;
  run.undisturbed.reset();
  // What says too little for a verdict gets little weight in a mean.
  if (analysis.has_estimate()) {
    run.undisturbed = {analysis.undisturbed_time_seconds(), analysis.undisturbed_interval_seconds()};
  }
}

RunEnd end_of(RunState state) {
  if (state == RunState::recorded) return RunEnd::finished;
  return state == RunState::failed ? RunEnd::failed : RunEnd::other_work;
}

// A run that wrote no profile which can be read is a failed one.
void judge(ListedRun& listed, const RepeatedRuns& runs, std::optional<JudgedFile>& judged) {
  Outcome<JudgedFile> read =
      judge_file((runs.series.directory() / listed.file).string(), runs.known ? &*runs.known : nullptr);
  if (!read) {
    tell(listed.name + " does not count: " + read.failure().message);
    listed.run = {.end = RunEnd::failed};
    listed.interference_percent = 0.0;
    return;
  }
  judged = std::move(*read);
  take_over(listed, *judged);
}

// Varied amounts of work have other numbers of segments.
Status count_work(const RepeatRequest& request, ListedRun& listed, const JudgedFile& judged, RepeatedRuns& runs) {
  const CountedWork work{.segments = request.work ? 0 : judged.profile.segments, .ranks = judged.profile.ranks};
  const Outcome<std::optional<std::string>> difference = runs.series.count(listed.name, work, prefix_of(listed.name));
  if (!difference) return difference.failure();
  if (!*difference) return Done{};
  listed.run.end = RunEnd::other_work;
  tell(fmt::format("{} did other work than the first run: it had {}. It does not count", listed.name, **difference));
  return Done{};
}

// A run of the list as it is in series.json.
ListedRun listed_run(const RepeatRequest& request, const SeriesRun& made, std::size_t number) {
  ListedRun listed{.name = made.name, .file = made.profile, .program = program_of(request, number)};
  listed.run.end = end_of(made.state);
  if (request.work) listed.work = static_cast<double>(work_of_run(number, request.work->range));
  return listed;
}

// Enters a run that was just made.
Status add_new_run(const RepeatRequest& request, const std::string& name, RepeatedRuns& runs) {
  const std::vector<SeriesRun>& all = runs.series.runs();
  const auto made = std::find_if(all.begin(), all.end(), [&name](const SeriesRun& run) { return run.name == name; });
  ListedRun listed = listed_run(request, *made, runs.repetition.runs.size());
  std::optional<JudgedFile> judged;
  if (listed.run.end != RunEnd::failed) judge(listed, runs, judged);
  if (judged) {
    if (const Status counted = count_work(request, listed, *judged, runs); !counted) return counted.failure();
  }
  if (judged && !judged->analysis.has_estimate()) {
    tell(fmt::format("{} counts only as measured: {}", name, judged->analysis.no_verdict->reason.message));
  }
  if (judged && runs.known) {
    const std::string complaint = keep(&*runs.known, *judged, (runs.series.directory() / listed.file).string());
    if (!complaint.empty()) runs.complaints.push_back(complaint);
  }
  runs.repetition.runs.push_back(std::move(listed));
  return Done{};
}

// What later runs have made known narrows the estimates of those before them.
void judge_again(RepeatedRuns& runs) {
  if (!runs.known || runs.judged_together == runs.repetition.runs.size()) return;
  for (ListedRun& listed : runs.repetition.runs) {
    if (listed.run.end == RunEnd::failed) continue;
    show_step("analyzing " + listed.name + " again");
    std::optional<JudgedFile> judged;
    judge(listed, runs, judged);
  }
  show_step("");
  runs.judged_together = runs.repetition.runs.size();
}

// -- all of them

std::vector<WorkedRun> worked_runs(const Repetition& repetition) {
  std::vector<WorkedRun> runs;
  for (std::size_t i = 0; i < repetition.runs.size(); ++i) {
    const ListedRun& run = repetition.runs[i];
    if (!repetition.summary.unused[i] && run.run.undisturbed)
      runs.push_back({run.work, run.run.undisturbed->uncertain()});
  }
  return runs;
}

bool has_finished(const RepeatedRun& run) { return run.end == RunEnd::finished; }

// Runs, or rounds, that finished and are no warm-up: --max-runs counts them, whether they have an estimate or not.
std::size_t finished(const Repetition& repetition) {
  std::size_t fewest = repetition.summary.measured.runs;
  for (Program other = 1; other < programs_of(repetition); ++other) {
    const std::vector<RunPair> pairs = pairs_of(repetition, other);
    const auto of_both = std::count_if(pairs.begin(), pairs.end(), [](const RunPair& pair) {
      return !pair.is_warm_up && has_finished(pair.a) && has_finished(pair.b);
    });
    fewest = std::min(fewest, static_cast<std::size_t>(of_both));
  }
  return fewest;
}

// How many of the first runs, or rounds, are still to be made and left out.
std::size_t warm_up_left(std::size_t warm_up_runs, const Repetition& repetition) {
  const auto left_of = [warm_up_runs](const SeriesSummary& summary) {
    const auto made = std::count(summary.unused.begin(), summary.unused.end(), Unused::warm_up);
    return warm_up_runs - static_cast<std::size_t>(made);
  };
  std::size_t most = 0;
  for (Program program = first_program; program < programs_of(repetition); ++program) {
    most = std::max(most, left_of(summary_of(repetition, program)));
  }
  return most;
}

// `known_runs`: with an estimate. With several programs, rounds are counted instead of runs.
SeriesProgress progress_of(const RepeatRequest& request, const RepeatedRuns& runs, std::size_t known_runs) {
  const Repetition& repetition = runs.repetition;
  SeriesProgress progress{.elapsed_seconds = runs.series.elapsed_seconds(),
                          .is_interrupted = runs.signals.asked_to_end() != 0,
                          .without_estimate = finished(repetition) - known_runs};
  const std::size_t made = runs.series.runs().size();
  if (made > 0) progress.seconds_per_run = progress.elapsed_seconds / static_cast<double>(made);
  progress.seconds_per_run *= static_cast<double>(request.programs.size());
  if (request.warm_up_runs) progress.warm_up_left = warm_up_left(*request.warm_up_runs, repetition);
  progress.most_warm_up_left = warm_up_left(request.warm_up_runs.value_or(most_warm_up_runs), repetition);
  return progress;
}

// What the series is to know.
KnownSoFar known_so_far(const RepeatRequest& request, const Repetition& repetition) {
  if (!repetition.others.empty()) return known_so_far_of_comparisons(repetition);
  if (!repetition.work) return halcyon::known_so_far(repetition.summary.undisturbed);
  const std::optional<WorkRate>& rate = repetition.work->rate;
  return rate ? halcyon::known_so_far(*rate, request.precision.within_percent) : KnownSoFar{};
}

void evaluate(const RepeatRequest& request, RepeatedRuns& runs) {
  Repetition& repetition = runs.repetition;
  const SeriesRequest asked{.precision = request.precision, .warm_up_runs = request.warm_up_runs};
  repetition.summary = summarise(runs_of(repetition, first_program), asked);
  if (repetition.work) {  // the runs take different times anyway
    repetition.summary.contradiction.reset();
    repetition.summary.caveats.clear();
  }
  for (Program other = 1; other < programs_of(repetition); ++other) {
    repetition.others[other - 1].summary = summarise(runs_of(repetition, other), asked);
    repetition.others[other - 1].versus =
        compare_pairs(pairs_of(repetition, other), of_each_comparison(request.precision, repetition.others.size()));
  }
  if (repetition.work) {
    repetition.work->rate = work_rate(worked_runs(repetition), request.precision.confidence);
  }
  const KnownSoFar known = known_so_far(request, repetition);
  repetition.outlook = outlook_of(known, request.rule, progress_of(request, runs, known.runs));
}

// Makes a run, and returns how it ended; nothing if it was interrupted.
Outcome<std::optional<RunEnd>> make_run(const RepeatRequest& request, const std::string& name, std::size_t number,
                                        RepeatedRuns& runs) {
  if (const Status prepared = prepare(request, name, runs); !prepared) return prepared.failure();
  const Outcome<std::string> profile = record(request, name, number, runs);
  if (runs.signals.asked_to_end() != 0) return std::optional<RunEnd>();
  if (!profile && runs.series.runs().back().state == RunState::running) return profile.failure();  // it did not begin
  if (!profile) {
    show_end_of(runs.series.log_of(name));
    tell(name + " does not count: " + profile.failure().message);
  }
  show_step("analyzing " + name);
  const Status added = add_new_run(request, name, runs);
  show_step("");
  if (!added) return added.failure();
  return std::optional(runs.repetition.runs.back().run.end);
}

// Runs one after the other that do not count. Programs take turns, so each has its own.
struct UselessRuns {
  int in_a_row = 0;

  // Why no more runs are made, if so.
  std::optional<std::string> add(RunEnd end, bool is_first, Program program) {
    in_a_row = end == RunEnd::finished ? 0 : in_a_row + 1;
    if (in_a_row > 0 && is_first) {
      return program == first_program
                 ? "the first run failed: nothing is repeated"
                 : fmt::format("the first run of {} failed: nothing is compared", letter_of(program));
    }
    if (in_a_row < most_useless_runs_in_a_row) return std::nullopt;
    if (end == RunEnd::failed) return fmt::format("{} runs one after the other do not count", in_a_row);
    return fmt::format(
        "{} runs one after the other do not count. If they find files that the first run did not find, remove these "
        "files with --prepare, and begin a new series",
        in_a_row);
  }
};

// Why the series cannot become known with more runs, if so.
std::optional<std::string> reason_to_give_up(const RepeatRequest& request, const Repetition& repetition,
                                             const KnownSoFar& known) {
  const std::size_t many = std::max(2 * request.rule.least_runs, least_runs_before_giving_up);
  if (known.runs == 0 && finished(repetition) >= many) {
    return fmt::format("none of {} has an estimate of its undisturbed time: halcyon report says why",
                       plural(repetition.runs.size(), "run"));
  }
  if (request.work && known.runs >= many && !known.half_width_percent) {
    return fmt::format(
        "after {}, the time may not depend on {} at all: vary it more, check that the program uses it, or give a "
        "larger --min-runs",
        plural(known.runs, "run"), request.work->name);
  }
  return std::nullopt;
}

Status make_runs_until_known(const RepeatRequest& request, RepeatedRuns& runs) {
  const Progress progress;
  Repetition& repetition = runs.repetition;
  std::vector<UselessRuns> useless(request.programs.size());
  for (std::size_t number = repetition.runs.size();; ++number) {
    evaluate(request, runs);
    KnownSoFar known = known_so_far(request, repetition);
    const bool is_round_whole = number % request.programs.size() == 0;
    if (is_round_whole && is_look(known.runs, request.rule.least_runs)) {
      judge_again(runs);
      evaluate(request, runs);
      known = known_so_far(request, repetition);
    }
    const bool is_interrupted = runs.signals.asked_to_end() != 0;
    if (repetition.outlook.stopped_because && (is_round_whole || is_interrupted)) return Done{};
    if (const std::optional<std::string> reason = reason_to_give_up(request, repetition, known))
      return Failure{*reason};
    const std::string name = name_of_run(request, number);
    const std::string outlook = outlook_words(repetition);
    progress.begin(next_run_words(repetition), outlook.empty() ? name : name + ", " + outlook);
    const Outcome<std::optional<RunEnd>> end = make_run(request, name, number, runs);
    if (!end) return end.failure();
    if (!*end) continue;
    const Program program = program_of(request, number);
    const bool is_first = runs_of(repetition, program).size() == 1;
    if (const auto reason = useless[program].add(**end, is_first, program)) return Failure{*reason};
  }
}

}  // namespace

bool names_a_run(std::string_view file) {
  const bool is_of_several = file.size() > 1 && file[1] == '-' && file[0] >= 'a' && file[0] <= 'z';
  if (!is_of_several && !file.starts_with(prefix_of_one_program)) return false;
  return file.substr(file.find('-') + 1).find_first_of("0123456789") == 0;
}

Status take_over_runs(const RepeatRequest& request, RepeatedRuns& runs) {
  const std::vector<SeriesRun> all = runs.series.runs();
  for (const SeriesRun& made : all) {
    if (made.state == RunState::interrupted || made.state == RunState::running) continue;
    const std::size_t number = runs.repetition.runs.size();
    if (made.name != name_of_run(request, number)) {
      return Failure{fmt::format("{} is damaged: its run {} is named '{}'",
                                 (runs.series.directory() / "series.json").string(), number + 1, made.name)};
    }
    show_step("analyzing " + made.name);
    ListedRun listed = listed_run(request, made, number);
    std::optional<JudgedFile> judged;
    if (listed.run.end != RunEnd::failed) judge(listed, runs, judged);
    const bool is_of_older_series = made.work.ranks == 0;
    if (judged && is_of_older_series && listed.run.end == RunEnd::finished) {
      if (const Status counted = count_work(request, listed, *judged, runs); !counted) return counted.failure();
    }
    runs.repetition.runs.push_back(std::move(listed));
  }
  show_step("");
  return Done{};
}

Status make_runs(const RepeatRequest& request, RepeatedRuns& runs) {
  const Status made = make_runs_until_known(request, runs);
  const std::optional<StoppedBecause> stopped = runs.repetition.outlook.stopped_because;
  judge_again(runs);
  evaluate(request, runs);
  // As it was when it was decided. A failure is none of the reasons.
  runs.repetition.outlook.stopped_because = made ? stopped : std::nullopt;
  for (Program other = 1; other < programs_of(runs.repetition); ++other) {
    OtherProgram& program = runs.repetition.others[other - 1];
    if (!program.is_against_itself) continue;
    program.false_alarm_share =
        false_alarm_share(pairs_of(runs.repetition, other), request.precision, repetitions_of_false_alarms, /*seed=*/1);
  }
  const Status kept = runs.series.keep_elapsed_time();
  return made ? kept : made;
}

}  // namespace halcyon::cli
