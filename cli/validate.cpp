// halcyon validate: how near the estimates come to the truth, for this program on this machine.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <nlohmann/json.hpp>

#include "analyzer/compare/comparison.hpp"
#include "analyzer/estimate/estimators.hpp"
#include "analyzer/validate/validation.hpp"
#include "cli/commands.hpp"
#include "cli/console/progress.hpp"
#include "cli/disturbers/disturber.hpp"
#include "cli/disturbers/two_hosts.hpp"
#include "cli/launch/rank_options.hpp"
#include "cli/launch/recorded_run.hpp"
#include "cli/launch/run_series.hpp"
#include "intm/spec.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/system/plural.hpp"
#include "report/json.hpp"
#include "report/series/validation.hpp"
#include "report/series/validation_figures.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

struct ValidateOptions {
  fs::path directory;
  Words launch;
  Launcher launcher;
  RankOptions recording{.background = "1"};
  std::string call_class = "all";
  PlanRequest plan{.levels = 6, .runs = 3, .disturbers = 0, .seed = 1};
  std::vector<std::string> disturb;       // as given
  std::vector<DisturberSpec> disturbers;  // the same, read
  std::shared_ptr<TwoHosts> hosts;        // on which all runs are, where the network is disturbed
  std::string json;
  bool anyway = false;
};

struct Recording {
  std::string name;  // of profile and log
  std::string spec;  // empty: nothing is injected
  std::uint64_t seed = 0;
  const DisturberSpec* disturber = nullptr;
  DisturbedRun disturbed{};  // for it
  bool background = true;
};

constexpr const char* quiet_run = "calibration-quiet";

struct Recorded {
  Profile profile;
  std::string disturbance;  // what the disturber did
};

struct Series {
  RunSeries runs;
  SignalRelay signals;     // also while the runs are evaluated, so that results are written before this process ends
  bool too_noisy = false;  // why the series ended
};

Outcome<Recorded> record(const ValidateOptions& options, const Recording& recording, Series& series) {
  std::string disturbance;
  Status disturbed = Done{};
  const auto make = [&](const std::string& profile, const std::string& log) -> Outcome<RecordedRunEnd> {
    RecordedRunRequest request{.command = options.launch,
                               .launcher = options.launcher,
                               .options = options.recording,
                               .injection_seed = std::to_string(recording.seed),
                               .log = log};
    if (options.hosts) request.prefix = options.hosts->launch_prefix();
    request.options.output = profile;
    if (!recording.background) request.options.background = "0";
    if (!recording.spec.empty()) request.options.inject = {recording.spec};
    if (recording.disturber == nullptr) return run_recorded(request, series.signals);

    Outcome<Disturber> disturber = Disturber::start(*recording.disturber, recording.disturbed);
    if (!disturber) return Failure{recording.name + ": " + disturber.failure().message};
    Outcome<RecordedRunEnd> end = run_recorded(request, series.signals);
    const Outcome<DisturberWork> work = disturber->end();
    if (work) {
      disturbance = text_of(*work, recording.disturber->kind);
    } else {
      disturbed = Failure{recording.name + ": " + text_of(*recording.disturber) + ": " + work.failure().message};
    }
    return end;
  };
  const Outcome<std::string> file = series.runs.record(recording.name, options.launch, make, series.signals);
  if (!file) return file.failure();
  if (!disturbed) return disturbed.failure();
  Outcome<Profile> profile = read_profile(*file);
  if (!profile) return profile.failure();
  return Recorded{std::move(*profile), disturbance};
}

Outcome<Calibration> calibrate(const ValidateOptions& options, double& launch_seconds, Series& series) {
  tell("two runs for calibration");
  const auto began = std::chrono::steady_clock::now();
  const Outcome<Recorded> recorded = record(options, {.name = quiet_run, .background = false}, series);
  if (!recorded) return recorded.failure();
  const Profile* const quiet = &recorded->profile;
  launch_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (quiet->segments <= 1) {
    return Failure{"this program cannot be validated: " +
                   analyze(*quiet, methods.front().name).no_verdict->reason.message};
  }
  // The other runs must have about as many segments.
  const auto counted = series.runs.count(quiet_run, {.segments = quiet->segments, .ranks = quiet->ranks});
  if (!counted) return counted.failure();
  constexpr double seconds_of_a_call = 1e-6;
  const Outcome<Recorded> counting = record(options,
                                            {.name = "calibration-calls",
                                             .spec = "class=" + options.call_class + ",prob=1,mean=1us,sd=0us",
                                             .seed = options.plan.seed,
                                             .background = false},
                                            series);
  if (!counting) return counting.failure();
  const std::vector<float>& requested = counting->profile.injected.requested;
  const double calls = std::accumulate(requested.begin(), requested.end(), 0.0) / seconds_of_a_call;
  if (calls < 1.0) {
    return Failure{"--class " + options.call_class + " matches no call of this program between its boundaries"};
  }
  return Calibration{quiet->run_time_seconds, quiet->segments, quiet->ranks, calls};
}

std::string spec_of(const ValidateOptions& options, const PlannedRun& run) {
  if (run.kind != RunKind::injected) return {};
  return fmt::format("class={},prob={:.6g},mean={:.1f}us,sd={:.1f}us", options.call_class, run.probability,
                     run.delay_seconds * 1e6, run.deviation_seconds * 1e6);
}

const DisturberSpec* disturber_of(const ValidateOptions& options, const PlannedRun& run) {
  return run.kind == RunKind::disturbed ? &options.disturbers[static_cast<std::size_t>(run.disturber)] : nullptr;
}

std::string description(const ValidateOptions& options, const PlannedRun& run) {
  if (const DisturberSpec* disturber = disturber_of(options, run)) return text_of(*disturber);
  if (run.kind != RunKind::injected) return std::string(name_of(run.kind));
  return fmt::format("{:.0f} % in {:.2g} hits a segment", run.target_percent, run.hits_per_segment);
}

ValidatedRun facts_of(const PlannedRun& planned, double middle_seconds, const Profile& profile) {
  const Analysis analysis = analyze(profile, methods.front().name);
  return {.plan = planned,
          .middle_seconds = middle_seconds,
          .run_time_seconds = analysis.run_time_seconds,
          .coverage_percent = analysis.coverage_percent,
          .segments = analysis.segments,
          .injected_percent = analysis.injected_percent,
          .background = background_of(profile),
          .computing_seconds = computing_seconds(profile),
          .methods = analysis.methods};
}

// A second pass over the files, since the fastest run is known only now: two profiles in memory at a time.
Status add_displacements(const ValidateOptions& options, const std::vector<std::string>& names,
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
    const std::vector<GroupPair> pairs = match_groups({*profile, groups}, {*reference, reference_groups});
    runs[i].displacement_seconds =
        median_displacement_seconds({*profile, groups}, {*reference, reference_groups}, pairs);
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

// Where a run lies in the time that its launch command takes, as the quiet run for calibration had it.
DisturbedRun expected_run(const ValidateOptions& options, const PlannedRun& planned, const Calibration& calibration,
                          double launch_seconds) {
  double background_seconds = 0.0;
  parse_background(options.recording.background, background_seconds);
  return {.begins_in_seconds = std::max(0.0, launch_seconds - calibration.run_time_seconds) + 0.5 * background_seconds,
          .seconds = calibration.run_time_seconds,
          .seed = planned.seed,
          .hosts = options.hosts.get()};
}

// The runs of the plan, up to one that fails; what is the same for all of them, what belongs to each, and why the
// series ended early goes into `setting`.
std::vector<ValidatedRun> make_runs(const ValidateOptions& options, const std::vector<PlannedRun>& plan,
                                    double launch_seconds, const std::vector<double>& expected,
                                    ValidationSetting& setting, Series& series) {
  std::vector<ValidatedRun> runs;
  const Progress progress(expected);
  const auto series_began = std::chrono::steady_clock::now();
  const auto seconds_so_far = [series_began] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - series_began).count();
  };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    progress.begin(i, description(options, plan[i]));
    const Recording recording{.name = run_name(i + 1, plan.size()),
                              .spec = spec_of(options, plan[i]),
                              .seed = plan[i].seed,
                              .disturber = disturber_of(options, plan[i]),
                              .disturbed = expected_run(options, plan[i], setting.calibration, launch_seconds)};
    const double began = seconds_so_far();
    const Outcome<Recorded> recorded = record(options, recording, series);
    if (!recorded) {
      setting.ended_early = recorded.failure().message;
      break;
    }
    const Profile& profile = recorded->profile;
    const auto difference = series.runs.count(recording.name, {.segments = profile.segments, .ranks = profile.ranks});
    if (!difference) {
      setting.ended_early = difference.failure().message;
      break;
    }
    if (*difference) {
      setting.ended_early = fmt::format(
          "{} had {}: the program must do the same work in every run. Does it continue from files of its last run?",
          recording.name, **difference);
      break;
    }
    runs.push_back(facts_of(plan[i], 0.5 * (began + seconds_so_far()), profile));
    setting.ranks = profile.ranks;
    setting.hosts = profile.hosts();
    setting.counter = profile.counter;
    setting.specs.push_back(recording.spec);
    setting.disturbances.push_back(recorded->disturbance);
    setting.profiles.push_back(recording.name + ".h5");
    const bool is_time_to_look = i + 1 == first_quiet_runs && !options.anyway;
    if (const auto objection = is_time_to_look ? objection_to(summarise(runs).noise) : std::nullopt) {
      setting.ended_early =
          "this machine is too noisy to validate on: " + *objection + ". Stop the other work, or use --anyway";
      series.too_noisy = true;
      break;
    }
  }
  return runs;
}

Outcome<Results> measure(const ValidateOptions& options, Series& series) {
  double launch_seconds = 0.0;
  const Outcome<Calibration> calibration = calibrate(options, launch_seconds, series);
  if (!calibration) return calibration.failure();
  const std::vector<PlannedRun> plan = plan_runs(*calibration, options.plan);
  const std::vector<double> expected =
      expected_seconds(plan, *calibration, launch_seconds, options.recording.background);
  tell(fmt::format("{} of {:.3g} ms with {:.2g} calls each; {}, about {}", plural(calibration->segments, "segment"),
                   1e3 * calibration->run_time_seconds / static_cast<double>(calibration->segments),
                   calibration->calls_per_segment(), plural(plan.size(), "run"),
                   duration_text(std::accumulate(expected.begin(), expected.end(), 0.0))));

  Results results{.setting = {.command = quoted(options.launch), .request = options.plan, .calibration = *calibration}};
  for (const DisturberSpec& disturber : options.disturbers) results.setting.disturbers.push_back(text_of(disturber));
  std::vector<ValidatedRun> runs = make_runs(options, plan, launch_seconds, expected, results.setting, series);
  if (runs.empty()) return Failure{results.setting.ended_early};
  if (const Status status = add_displacements(options, results.setting.profiles, runs); !status) {
    return status.failure();
  }
  results.validation = summarise(std::move(runs));
  return results;
}

// What was asked for first: figures can be drawn again, and who reads standard output may leave.
Status write_results(const ValidateOptions& options, const Results& results) {
  const auto& [setting, validation] = results;
  const auto file = [&options](const char* name) { return (options.directory / name).string(); };
  const std::array figures{std::pair("runs.svg", runs_figure(setting, validation)),
                           std::pair("probability.svg", probability_figure(setting, validation)),
                           std::pair("accuracy.svg", accuracy_figure(setting, validation))};
  const nlohmann::ordered_json json = validation_json(setting, validation);
  Status kept = write_file(file("validation.json"), to_text(json));
  if (Status printed = print_result_anyway(validation_text(setting, validation), json, options.json); !printed) {
    return printed;
  }
  if (!kept) return kept;
  if (Status tables = write_file(file("validation.md"), validation_markdown(setting, validation)); !tables) {
    return tables;
  }
  for (const auto& [name, text] : figures) {
    if (Status drawn = write_file(file(name), text); !drawn) return drawn;
  }
  tell("profiles, validation.json, tables (validation.md) and figures are in " + options.directory.string());
  return Done{};
}

// Everything that changes the runs.
Environment options_of(const ValidateOptions& options) {
  Environment all = rank_environment(options.recording);
  const auto add = [&all](const char* name, const std::string& value) { all.emplace_back(name, value); };
  add("levels", std::to_string(options.plan.levels));
  add("runs", std::to_string(options.plan.runs));
  add("class", options.call_class);
  add("seed", std::to_string(options.plan.seed));
  std::string disturbers;
  for (const DisturberSpec& disturber : options.disturbers) {
    disturbers += (disturbers.empty() ? "" : " ") + text_of(disturber);
  }
  add("disturb", disturbers);
  return all;
}

int validate(ValidateOptions options, const Words& launch) {
  if (launch.empty()) return fail("no launch command given: halcyon validate -o DIR -- mpirun -np 4 ./app");
  const Outcome<Launcher> launcher = launcher_to_start(launch);
  if (!launcher) return fail(launcher.failure().message);
  options.launch = launch;
  options.launcher = *launcher;
  if (options.plan.levels < 2 && options.disturb.empty()) {
    return fail("--levels 1 makes quiet runs only: it needs --disturb");
  }
  for (const std::string& text : options.disturb) options.disturbers.push_back(*parse_disturber(text));
  options.plan.disturbers = static_cast<int>(options.disturbers.size());
  const bool disturbs_network =
      std::any_of(options.disturbers.begin(), options.disturbers.end(),
                  [](const DisturberSpec& disturber) { return disturber.kind == DisturberKind::network; });
  if (disturbs_network) {
    if (options.launcher.kind != Launcher::Kind::open_mpi) {
      return fail("--disturb network: the launch command must be Open MPI's mpirun, for its ranks to be on two hosts");
    }
    Outcome<TwoHosts> made = TwoHosts::make();
    if (!made) return fail("--disturb network: " + made.failure().message);
    options.hosts = std::make_shared<TwoHosts>(std::move(*made));
  }
  Outcome<RunSeries> begun = RunSeries::begin(
      options.directory, {.subcommand = "validate", .command = launch, .options = options_of(options)});
  if (!begun) return fail(begun.failure().message);
  options.directory = begun->directory();

  Series series{.runs = std::move(*begun)};
  const Outcome<Results> results = measure(options, series);
  // Hours of runs are not lost with the last one.
  const Status written = results ? write_results(options, *results) : Status(Done{});
  if (!written) fail(written.failure().message);
  const std::string failure = !results ? results.failure().message : results->setting.ended_early;
  if (!failure.empty()) {
    const std::vector<SeriesRun>& runs = series.runs.runs();
    if (!runs.empty() && runs.back().state == RunState::failed) show_end_of(series.runs.log_of(runs.back().name));
    fail(failure);
  }
  if (series.signals.asked_to_end() != 0) options.hosts.reset();
  series.signals.end_as_asked();
  if (!failure.empty()) return series.too_noisy ? no_answer : bad_usage_or_file;
  if (!written) return bad_usage_or_file;
  const std::optional<std::string> objection = objection_to(results->validation.noise);
  if (!objection) return passed;
  tell("not valid: " + *objection);
  return options.anyway ? passed : no_answer;
}

}  // namespace

void add_validate(const Command& program) {
  const Command command = program.subcommand("validate", "Test Halcyon's accuracy on this machine");
  auto options = std::make_shared<ValidateOptions>();
  command.option("-o,--output", options->directory, "New or empty directory for all results")
      .placeholder("DIR")
      .required();
  command.option("--levels", options->plan.levels, "Levels of injected disturbance, 'quiet' included")
      .placeholder("N")
      .from_to(1, 1000)
      .with_default();
  command.option("-r,--runs", options->plan.runs, "Runs of each level and with each disturber")
      .placeholder("N")
      .from_to(1, 1000)
      .with_default();
  command
      .option("--disturb", options->disturb,
              "Additional runs with a real disturber: KIND or KIND:WHEN, see below; may be repeated")
      .placeholder(any_of(disturber_names))
      .repeatable()
      .check(objection_to_disturber);
  command.option("--class", options->call_class, "Calls to delay")
      .placeholder(any_of(injected_class_names))
      .check([](const std::string& text) {
        const bool good =
            text.find(',') == std::string::npos && static_cast<bool>(parse_spec("class=" + text + ",prob=1,mean=1us"));
        return good ? std::string() : "'" + text + "' is not " + one_of(injected_class_names);
      })
      .with_default();
  add_seed_option(command, options->plan.seed);
  add_json_option(command, options->json);
  command.flag("--anyway", options->anyway, "Continue on a machine that is too noisy; the result says so");
  add_recording_options(command, options->recording);
  command.notes(
      "Runs the launch command after '--' quietly and with increasing injected delays, and compares the measured\n"
      "interference with what Halcyon estimates from each run alone. Takes about 30 runs. 11 of them are quiet,\n"
      "and each other run is compared with the quiet runs before and after it.\n" +
      std::string(disturber_help) +
      "Exit status: 4 the machine is too noisy to validate on.\n"
      "Examples:\n"
      "  halcyon validate -o validation -- mpirun -np 4 ./app input\n"
      "  halcyon validate -o validation --levels 1 --disturb memory:periodic --disturb disk:bursts -- \\\n"
      "    mpirun -np 4 ./app input");
  command.starts([options](const Words& launch) { return validate(*options, launch); });
}

}  // namespace halcyon::cli
