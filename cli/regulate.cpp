// halcyon regulate: runs a program that steps aside while it and others disturb each other.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/commands.hpp"
#include "cli/console/quantity.hpp"
#include "cli/run_and_report.hpp"
#include "cli/running/regulation.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

struct RegulateOptions {
  RunOptions run;
  std::string target = "auto";
  std::vector<std::string> metrics;
  std::string tolerance = "7.5%";  // where a report is no longer green
  std::string alpha = "0.05";
  std::string beta = "0.2";
  bool spends_alpha = false;
  std::string testpoint = "0.3s";
  std::string first_suspension = "0.3s";
  std::string most_suspension = "300s";
  int bootstrap = 30;
  std::string probation;  // empty: none
  std::string probation_share = "50%";
  int averaged = 10000;
};

// A value with what it must lie between.
struct Bounds {
  double low;
  double high;
};

Status take(double& into, std::string_view option, const std::string& text, std::optional<double> value,
            const Bounds& bounds, std::string_view kind) {
  if (!value || !(*value >= bounds.low && *value <= bounds.high)) {
    return Failure{fmt::format("{}: '{}' is not {} from {:g} to {:g}", option, text, kind, bounds.low, bounds.high)};
  }
  into = *value;
  return Done{};
}

Outcome<RegulationRequest> request_of(const RegulateOptions& options) {
  RegulationRequest request;
  RegulatorSettings& settings = request.settings;
  settings.test.spends_alpha = options.spends_alpha;
  settings.bootstrap_testpoints = static_cast<std::size_t>(options.bootstrap);
  settings.calibration.averaged_testpoints = options.averaged;
  constexpr Bounds chances{1e-6, 0.499};
  constexpr Bounds pauses{0.05, 86400.0};
  double share = 0.0;
  double tolerance = 0.0;
  for (const Status& taken :
       {take(settings.test.alpha, "--alpha", options.alpha, number_in(options.alpha), chances, "a chance"),
        take(settings.test.beta, "--beta", options.beta, number_in(options.beta), chances, "a chance"),
        take(settings.testpoint_seconds, "--testpoint", options.testpoint, seconds_in(options.testpoint), pauses,
             "a time in s"),
        take(settings.first_suspension_seconds, "--first-suspension", options.first_suspension,
             seconds_in(options.first_suspension), pauses, "a time in s"),
        take(settings.most_suspension_seconds, "--most-suspension", options.most_suspension,
             seconds_in(options.most_suspension), pauses, "a time in s"),
        take(tolerance, "--tolerance", options.tolerance, percent_in(options.tolerance), {0.0, 100.0}, "a percentage"),
        take(share, "--probation-share", options.probation_share, percent_in(options.probation_share), {1.0, 100.0},
             "a percentage")}) {
    if (!taken) return taken.failure();
  }
  settings.probation_share = 0.01 * share;
  settings.tolerance = 0.01 * tolerance;
  if (!options.probation.empty()) {
    const Status taken = take(settings.probation_seconds, "--probation", options.probation,
                              seconds_in(options.probation), pauses, "a time in s");
    if (!taken) return taken.failure();
  }
  if (!(settings.test.alpha < settings.test.beta)) {
    return Failure{
        "--alpha must be less than --beta: otherwise suspensions of an undisturbed program grow without end"};
  }
  if (settings.first_suspension_seconds > settings.most_suspension_seconds) {
    return Failure{"--first-suspension must not be longer than --most-suspension"};
  }
  if (options.target != "auto") {
    const std::optional<double> target = number_in(options.target);
    if (!target || *target <= 0.0) {
      return Failure{"--target: '" + options.target + "' is neither 'auto' nor a number of segments per second"};
    }
    if (!options.metrics.empty()) return Failure{"--target RATE counts only segments: leave out --metric"};
    request.target = target;
  }
  for (const ProgressMetric metric : {ProgressMetric::message_bytes, ProgressMetric::file_bytes}) {
    for (const std::string& wanted : options.metrics) {
      if (wanted == name_of(metric)) request.metrics.push_back(metric);
    }
  }
  return request;
}

void tell_end(const RegulationEnd& end, const RegulationRequest& request) {
  for (const std::string& complaint : end.complaints) tell(complaint);
  if (!end.found_job) {
    tell("the program was not regulated: it published no live record on this host, or only some of its ranks did");
    return;
  }
  if (!end.is_calibrated && end.suspensions == 0) {
    tell(fmt::format("the program was not regulated: it ended before its usual progress was known, which takes {}",
                     plural(request.settings.bootstrap_testpoints, "testpoint")));
    return;
  }
  if (end.suspensions == 0) {
    tell("never suspended");
  } else {
    const auto times = [](std::size_t count) { return count == 1 ? "once" : fmt::format("{} times", count); };
    const std::size_t cores = end.since_others_had_cores;
    tell(fmt::format("suspended {}, {:.3g} s in all{}", times(end.suspensions), end.suspended_seconds,
                     cores == 0 ? "" : fmt::format(" ({} since others had its cores)", times(cores))));
  }
  if (end.missed > 0) {
    tell(fmt::format("its ranks did not reach {} in time", plural(end.missed, "suspension")));
  }
}

int regulate(const RegulateOptions& options, const Words& launch) {
  if (launch.empty()) return fail("no launch command given: halcyon regulate [OPTIONS] -- mpirun -np 4 ./app");
  Outcome<RegulationRequest> request = request_of(options);
  if (!request) return fail(request.failure().message);
  request->command = quoted(launch);
  RunOptions run = options.run;
  run.ranks.live = "on";
  RegulationEnd end;
  const int status =
      run_and_report(run, launch, [&](const std::stop_token& stop) { end = regulate_job(*request, stop); });
  if (!run.is_dry) tell_end(end, *request);
  return status;
}

}  // namespace

void add_regulate(const Command& program) {
  const Command command = program.subcommand(
      "regulate", "Run a program of low importance, which steps aside while others need the machine");
  auto options = std::make_shared<RegulateOptions>();
  command.option("--target", options->target, "Good progress in segments per second, or 'auto' to learn it")
      .placeholder("auto|RATE")
      .with_default();
  command
      .option("--metric", options->metrics,
              "What counts as progress besides segments: bytes of messages or files; may be repeated")
      .placeholder("messages|files")
      .one_of({"messages", "files"})
      .repeatable();
  command.option("--testpoint", options->testpoint, "Time between two testpoints, at which progress is judged")
      .placeholder("TIME")
      .with_default();
  command.option("--first-suspension", options->first_suspension, "The shortest suspension")
      .placeholder("TIME")
      .with_default();
  command.option("--most-suspension", options->most_suspension, "The longest suspension")
      .placeholder("TIME")
      .with_default();
  command
      .option("--tolerance", options->tolerance,
              "How much longer than its target a testpoint may take before it counts as poor")
      .placeholder("PERCENT")
      .with_default();
  command.option("--alpha", options->alpha, "Chance that good progress is judged poor").placeholder("P").with_default();
  command.option("--beta", options->beta, "Chance that poor progress is judged good").placeholder("P").with_default();
  command.flag("--spend-alpha", options->spends_alpha, "Apply --alpha to all testpoints together, not to each one");
  command
      .option("--bootstrap", options->bootstrap,
              "Number of testpoints at the beginning that are only used to learn the target")
      .placeholder("N")
      .from_to(1, 1000000)
      .with_default();
  command
      .option("--probation", options->probation,
              "After the bootstrap, run the program only part of the time for this long. Default: none")
      .placeholder("TIME");
  command
      .option("--probation-share", options->probation_share,
              "Share of the time for which the program runs during the probation")
      .placeholder("PERCENT")
      .with_default();
  command.option("--averaged", options->averaged, "Number of testpoints over which a target is averaged")
      .placeholder("N")
      .from_to(1, 1000000000)
      .with_default();
  add_run_options(command, options->run);
  command.notes(
      "If two programs compete for a resource, both become slower. So if this program makes poor progress, it\n"
      "probably disturbs another. Its ranks then stand still at a boundary, use no CPU time, and continue later. Each\n"
      "pause is twice as long as the one before, until progress is good again. The usual progress is learned while\n"
      "the program runs, and kept for its next run. If this command dies, the ranks continue within seconds.\n"
      "Exit status: that of the program.\n"
      "Examples:\n"
      "  halcyon regulate -- mpirun -np 4 ./less-important\n"
      "  halcyon regulate --target 120 --most-suspension 60s -- mpirun -np 4 ./less-important\n"
      "  halcyon regulate --metric messages --metric files -- mpirun -np 4 ./less-important");
  command.starts([options](const Words& launch) { return regulate(*options, launch); });
}

}  // namespace halcyon::cli
