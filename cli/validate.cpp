// halcyon validate: how near the estimates come to the truth, for this program on this machine.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>

#include "analyzer/comparison.hpp"
#include "analyzer/estimators.hpp"
#include "analyzer/validation.hpp"
#include "cli/commands.hpp"
#include "cli/hog.hpp"
#include "cli/progress.hpp"
#include "cli/recorded_launch.hpp"
#include "intm/spec.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/record/shared_settings.hpp"
#include "report/validation_figures.hpp"
#include "report/validation.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path directory;
  Launcher launcher;
  RankOptions recording{.background = "1"};
  std::string call_class = "all";
  PlanRequest plan{.levels = 6, .runs = 3, .hogs = 0, .seed = 1};
};

// What stopped the series, beside the sentence that is an outcome's failure.
struct Stop {
  std::string log;  // of the program, if it failed
  int signal = 0;   // that ended it
};

struct Recording {
  std::string name;  // of profile and log
  std::string spec;  // empty: nothing is injected
  std::uint64_t seed = 0;
  bool hog = false;
  bool background = true;
};

std::string profile_name(const Recording& recording) { return recording.name + ".h5"; }

Outcome<Profile> record(const Options& options, const Recording& recording, Stop& stop) {
  LaunchRequest request{.command = program_arguments(), .launcher = options.launcher, .options = options.recording};
  request.options.output = (options.directory / profile_name(recording)).string();
  if (!recording.background) request.options.background = "0";
  if (!recording.spec.empty()) request.options.inject = {recording.spec};
  request.injection_seed = std::to_string(recording.seed);
  request.log = (options.directory / (recording.name + ".log")).string();

  std::optional<CpuHog> hog;
  if (recording.hog && !hog.emplace().started()) {
    return Failure{std::string("cannot start the CPU hog: ") + std::strerror(errno)};
  }
  const Outcome<LaunchEnd> end = launch_recorded(request);
  hog.reset();
  if (!end) return end.failure();
  if (end->signal != 0) {
    stop.signal = end->signal;
    return Failure{"interrupted in " + recording.name + "; the profiles so far are in " + options.directory.string()};
  }
  if (end->status != 0 || !end->profile) {
    stop.log = request.log;
    const std::string why = end->status != 0 ? "ended with status " + std::to_string(end->status) : no_profile_written;
    return Failure{recording.name + (end->status != 0 ? " " : ": ") + why + " (" + quoted(request.command) +
                   "; its output is " + request.log + ")"};
  }
  return read_profile(*end->profile);
}

Outcome<Calibration> calibrate(const Options& options, double& launch_seconds, Stop& stop) {
  tell("two runs for calibration");
  const auto began = std::chrono::steady_clock::now();
  const Outcome<Profile> quiet = record(options, {.name = "calibration-quiet", .background = false}, stop);
  if (!quiet) return quiet.failure();
  launch_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (quiet->segments <= 1) {
    return Failure{"this program cannot be validated: " + analyze(*quiet, methods.front().name).unknown->message};
  }
  constexpr double seconds_of_a_call = 1e-6;
  const Outcome<Profile> counting = record(options,
                                           {.name = "calibration-calls",
                                            .spec = "class=" + options.call_class + ",prob=1,mean=1us,sd=0us",
                                            .seed = options.plan.seed,
                                            .background = false},
                                           stop);
  if (!counting) return counting.failure();
  const std::vector<float>& requested = counting->injected.requested;
  const double calls = std::accumulate(requested.begin(), requested.end(), 0.0) / seconds_of_a_call;
  if (calls < 1.0) {
    return Failure{"--class " + options.call_class + " meets no call of this program between its boundaries"};
  }
  return Calibration{quiet->run_time_seconds, quiet->segments, quiet->ranks, calls};
}

std::string spec_of(const Options& options, const PlannedRun& run) {
  if (run.kind != RunKind::injected) return {};
  return fmt::format("class={},prob={:.6g},mean={:.1f}us,sd={:.1f}us", options.call_class, run.probability,
                     run.delay_seconds * 1e6, run.deviation_seconds * 1e6);
}

std::string description(const PlannedRun& run) {
  if (run.kind != RunKind::injected) return std::string(name_of(run.kind));
  return fmt::format("{:.0f} % in {:.2g} hits a segment", run.target_percent, run.hits_per_segment);
}

ValidatedRun facts_of(const PlannedRun& planned, const Profile& profile) {
  const Analysis analysis = analyze(profile, methods.front().name);
  return {.plan = planned,
          .run_time_seconds = analysis.run_time_seconds,
          .coverage_percent = analysis.coverage_percent,
          .segments = analysis.segments,
          .injected_percent = analysis.injected_percent,
          .background = background_of(profile),
          .computing_seconds = computing_seconds(profile),
          .methods = analysis.methods};
}

// A second pass over the files, since the fastest run is known only now: two profiles in memory at a time.
Status add_displacements(const Options& options, const std::vector<std::string>& names,
                         std::vector<ValidatedRun>& runs) {
  const auto read = [&options, &names](std::size_t run) {
    return read_profile((options.directory / names[run]).string());
  };
  const std::size_t fastest = fastest_of(runs);
  const Outcome<Profile> reference = read(fastest);
  if (!reference) return reference.failure();
  const Grouping reference_groups = group_segments(*reference);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == fastest) continue;
    const Outcome<Profile> profile = read(i);
    if (!profile) return profile.failure();
    const Grouping groups = group_segments(*profile);
    const std::vector<GroupPair> pairs = match_groups(*profile, groups, *reference, reference_groups);
    runs[i].displacement_seconds = median_displacement_seconds(*profile, groups, *reference, reference_groups, pairs);
  }
  return Done{};
}

struct Results {
  ValidationSetting setting;
  Validation validation;
};

// Probable wall-clock times, from that of the quiet calibration run.
std::vector<double> expected_seconds(const std::vector<PlannedRun>& plan, const Calibration& calibration,
                                     double launch_seconds, const std::string& background) {
  double background_seconds = 0.0;
  parse_background(background, background_seconds);
  std::vector<double> expected;
  for (const PlannedRun& run : plan) {
    const double share = run.target_percent / 100.0;
    expected.push_back(launch_seconds + calibration.run_time_seconds * share / (1.0 - share) + background_seconds);
  }
  return expected;
}

// A program that goes on where it stopped, or stops early, would make the shortest run the fastest.
constexpr double most_difference_of_segments = 0.1;

bool did_the_same_work(const Profile& profile, const Calibration& calibration) {
  const auto usual = static_cast<double>(calibration.segments);
  return std::abs(static_cast<double>(profile.segments) - usual) <= most_difference_of_segments * usual;
}

// The runs of the plan, up to one that fails; what is the same for all of them, what belongs to each, and why the
// series ended early goes into `setting`.
std::vector<ValidatedRun> make_runs(const Options& options, const std::vector<PlannedRun>& plan,
                                    const std::vector<double>& expected, ValidationSetting& setting, Stop& stop) {
  std::vector<ValidatedRun> runs;
  const std::size_t digits = std::to_string(plan.size()).size();
  const Progress progress(expected);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    progress.begin(i, description(plan[i]));
    const Recording recording{.name = fmt::format("run-{:0{}}", i + 1, digits),
                              .spec = spec_of(options, plan[i]),
                              .seed = plan[i].seed,
                              .hog = plan[i].kind == RunKind::hog};
    const Outcome<Profile> profile = record(options, recording, stop);
    if (!profile) {
      setting.ended_early = profile.failure().message;
      break;
    }
    if (!did_the_same_work(*profile, setting.calibration)) {
      setting.ended_early = fmt::format(
          "{} had {} segments, and the run for calibration {}: the program must do the same work each "
          "time; does it go on from files of its last run?",
          recording.name, profile->segments, setting.calibration.segments);
      break;
    }
    runs.push_back(facts_of(plan[i], *profile));
    setting.ranks = profile->ranks;
    setting.hosts = profile->hosts();
    setting.counter = profile->counter;
    setting.specs.push_back(recording.spec);
    setting.profiles.push_back(profile_name(recording));
  }
  return runs;
}

Outcome<Results> measure(const Options& options, Stop& stop) {
  double launch_seconds = 0.0;
  const Outcome<Calibration> calibration = calibrate(options, launch_seconds, stop);
  if (!calibration) return calibration.failure();
  const std::vector<PlannedRun> plan = plan_runs(*calibration, options.plan);
  const std::vector<double> expected =
      expected_seconds(plan, *calibration, launch_seconds, options.recording.background);
  tell(fmt::format("{} segments of {:.3g} ms with {:.2g} calls each; {} runs, about {}", calibration->segments,
                   1e3 * calibration->run_time_seconds / static_cast<double>(calibration->segments),
                   calibration->calls_per_segment(), plan.size(),
                   duration_text(std::accumulate(expected.begin(), expected.end(), 0.0))));

  Results results{
      .setting = {.command = quoted(program_arguments()), .request = options.plan, .calibration = *calibration}};
  std::vector<ValidatedRun> runs = make_runs(options, plan, expected, results.setting, stop);
  if (runs.empty()) return Failure{results.setting.ended_early};
  if (const Status status = add_displacements(options, results.setting.profiles, runs); !status) {
    return status.failure();
  }
  results.validation = summarise(std::move(runs));
  return results;
}

// The directory is ours alone, so that no file of another series is taken for one of this.
std::optional<std::string> objection_to(const fs::path& directory) {
  if (directory.empty()) return "-o: a directory without a name";
  // The names of profiles are filled in by the ranks; the log's is not.
  if (directory.string().find('{') != std::string::npos) return "-o: no '{' in the name of a directory, please";
  std::error_code error;
  if (!fs::exists(directory, error) && !fs::create_directory(directory, error)) {
    return "cannot make " + directory.string() + ": " + error.message();
  }
  if (!fs::is_directory(directory, error)) return directory.string() + " is not a directory";
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return "cannot write into " + directory.string() + ": " + std::strerror(errno);
  }
  const bool is_empty = fs::is_empty(directory, error);
  if (error) return "cannot read " + directory.string() + ": " + error.message();
  if (!is_empty) {
    return directory.string() + " is not empty: results are never mixed, name a new directory";
  }
  return std::nullopt;
}

void show_end_of(const std::string& log) {
  constexpr std::size_t most_lines = 20;
  std::deque<std::string> lines;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
    if (lines.size() > most_lines) lines.pop_front();
  }
  for (const std::string& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
}

// What was asked for first: figures can be drawn again, and who reads standard output may leave.
Status write_results(const Options& options, const Results& results) {
  const auto& [setting, validation] = results;
  const auto file = [&options](const char* name) { return (options.directory / name).string(); };
  const std::array figures{std::pair("runs.svg", runs_figure(setting, validation)),
                           std::pair("probability.svg", probability_figure(setting, validation)),
                           std::pair("accuracy.svg", accuracy_figure(setting, validation))};
  if (Status printed = print_result(validation_markdown(setting, validation), validation_json(setting, validation),
                                    file("validation.json"));
      !printed) {
    return printed;
  }
  for (const auto& [name, text] : figures) {
    if (Status drawn = write_file(file(name), text); !drawn) return drawn;
  }
  tell("profiles, validation.json and figures are in " + options.directory.string());
  return Done{};
}

int validate(Options options) {
  const std::vector<std::string>& launch = program_arguments();
  if (launch.empty()) return fail("no launch command given: halcyon validate -o DIR -- mpirun -np 4 ./app");
  const Outcome<Launcher> launcher = launcher_of(launch);
  if (!launcher) return fail(launcher.failure().message);
  options.launcher = *launcher;
  if (const std::optional<std::string> objection = objection_to(options.directory)) return fail(*objection);
  options.directory = fs::absolute(options.directory).lexically_normal();

  Stop stop;
  const Outcome<Results> results = measure(options, stop);
  // Hours of runs are not lost with the last one.
  const Status written = results ? write_results(options, *results) : Status(Done{});
  if (!written) fail(written.failure().message);
  const std::string failure = !results ? results.failure().message : results->setting.ended_early;
  if (!failure.empty()) {
    if (!stop.log.empty()) show_end_of(stop.log);
    fail(failure);
    if (stop.signal != 0) {
      std::signal(stop.signal, SIG_DFL);
      std::raise(stop.signal);
    }
    return bad_usage_or_file;
  }
  return written ? passed : bad_usage_or_file;
}

}  // namespace

void add_validate(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand("validate", "Test Halcyon's accuracy on this machine");
  auto options = std::make_shared<Options>();
  command->add_option("-o,--output", options->directory, "New or empty directory for all results")
      ->type_name("DIR")
      ->required();
  command->add_option("--levels", options->plan.levels, "Levels of disturbance, 'quiet' included. Default: 6")
      ->type_name("N")
      ->check(CLI::Range(2, 1000));
  command->add_option("--runs", options->plan.runs, "Runs of each level. Default: 3")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--hog", options->plan.hogs, "More runs, beside a CPU hog on a core of this node. Default: 0")
      ->type_name("N")
      ->check(CLI::Range(0, 1000));
  command->add_option("--class", options->call_class, "Calls to delay. Default: all")
      ->type_name("p2p|collective|mpiio|posixio|all")
      ->check([](const std::string& text) {
        const bool good =
            text.find(',') == std::string::npos && static_cast<bool>(parse_spec("class=" + text + ",prob=1,mean=1us"));
        return good ? std::string() : "'" + text + "' is not p2p, collective, mpiio, posixio or all";
      });
  command->add_option("--seed", options->plan.seed, "Of order and injection, for the same series again. Default: 1")
      ->type_name("N");
  add_recording_options(*command, options->recording);
  command->footer(
      "Runs the launch command behind '--' quietly and with more and more injected delays, and compares what is\n"
      "measured with what Halcyon estimates from each run alone. Takes some 20 runs.\n"
      "Exit status: 0 all made; 2 bad usage, or a run failed: what was made until then is evaluated.\n"
      "Example: halcyon validate -o validation -- mpirun -np 4 ./app input");
  command->callback([options, &chosen] { chosen = [options] { return validate(*options); }; });
}

}  // namespace halcyon::cli
