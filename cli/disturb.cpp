// halcyon disturb: disturbers alone, or beside a command.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "cli/commands.hpp"
#include "cli/disturbers/disturber.hpp"
#include "cli/launch/signal_relay.hpp"
#include "intm/spec.hpp"
#include "libprofile/system/lists_of_names.hpp"

namespace halcyon::cli {
namespace {

constexpr int not_started = 127;  // as shells have it

struct DisturbOptions {
  std::vector<std::string> disturbers;
  std::string lasts;  // --for
  std::uint64_t seed = 1;
};

class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&blocked_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked_, signal);
    sigprocmask(SIG_BLOCK, &blocked_, &before_);
  }
  ~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// The signal that came in this time, or 0.
  int wait(double seconds) const {
    const timespec most{static_cast<time_t>(seconds), static_cast<long>(std::fmod(seconds, 1.0) * 1e9)};
    return std::max(0, sigtimedwait(&blocked_, nullptr, &most));
  }

 private:
  sigset_t blocked_{};
  sigset_t before_{};
};

// Waits until all schedules or the time are over, or a signal comes. Returns the signal, or 0.
int wait_for_end(const std::vector<Disturber>& disturbers, double seconds) {
  const BlockedSignals signals;
  const auto began = std::chrono::steady_clock::now();
  constexpr double between_looks = 0.05;
  const auto is_over = [](const Disturber& disturber) { return disturber.is_over(); };
  for (;;) {
    const double left = seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (left <= 0.0 || std::all_of(disturbers.begin(), disturbers.end(), is_over)) return 0;
    if (const int signal = signals.wait(std::min(left, between_looks)); signal != 0) return signal;
  }
}

int disturb(const DisturbOptions& options, const Words& command) {
  const bool lasts_as_long_as_command = !command.empty();
  if (lasts_as_long_as_command && !options.lasts.empty()) {
    return fail(
        "--for cannot be used with a command, which is disturbed until it ends; part:FROM..TO disturbs a part of it");
  }
  const double seconds =
      options.lasts.empty() ? std::numeric_limits<double>::infinity() : 1e-9 * parse_time(options.lasts).value_or(0.0);
  std::vector<DisturberSpec> specs;
  std::optional<TwoHosts> hosts;
  for (const std::string& text : options.disturbers) {
    specs.push_back(*parse_disturber(text));
    if (needs_length(specs.back().schedule) && !std::isfinite(seconds)) {
      return fail("'" + text + "': percentages need a known length; give times, such as part:2s..5s, or --for");
    }
    if (specs.back().kind == DisturberKind::network && !hosts) {
      Outcome<TwoHosts> made = TwoHosts::make();
      if (!made) return fail(made.failure().message);
      hosts.emplace(std::move(*made));
    }
  }
  std::vector<Disturber> disturbers;
  for (const DisturberSpec& spec : specs) {
    Outcome<Disturber> started = Disturber::start(
        spec, {.seconds = seconds, .seed = options.seed + disturbers.size(), .hosts = hosts ? &*hosts : nullptr});
    if (!started) return fail(started.failure().message);
    disturbers.push_back(std::move(*started));
  }

  int status = passed;
  int signal = 0;
  if (lasts_as_long_as_command) {
    Words words = hosts ? hosts->launch_prefix() : Words();
    words.insert(words.end(), command.begin(), command.end());
    SignalRelay relay;
    Outcome<Job> job = Job::start({.words = words});
    if (!job) fail(job.failure().message);
    const Outcome<JobEnd> end = job ? relay.wait(*job) : Outcome<JobEnd>(JobEnd{.status = not_started});
    if (!end) return fail(end.failure().message);
    status = end->status;
  } else {
    signal = wait_for_end(disturbers, seconds);
  }
  for (std::size_t i = 0; i < disturbers.size(); ++i) {
    const Outcome<DisturberWork> work = disturbers[i].end();
    if (work) {
      tell(text_of(specs[i]) + " worked " + text_of(*work, specs[i].kind));
    } else {
      status = std::max(status, fail(text_of(specs[i]) + ": " + work.failure().message));
    }
  }
  disturbers.clear();
  if (signal != 0) {
    hosts.reset();
    end_by(signal);
  }
  return status;
}

}  // namespace

const char* const disturber_help =
    "KIND is cpu (keeps one core busy), memory (reads and writes arrays larger than the caches), disk (rewrites\n"
    "128 MiB in the current directory, with fsync) or network (sends streams through a link of 1 Gbit/s between two\n"
    "hosts made of this one, on which the command then runs; needs Open MPI's mpirun, root and iproute2).\n"
    "WHEN is throughout (the default), part[:FROM..TO] in times or in percent of the run (default 25%..75%),\n"
    "periodic[:ON,OFF] (default 1s,1s) or bursts[:ON,OFF] of random length with these means (default 200ms,600ms).\n";

std::string objection_to_disturber(const std::string& text) {
  const Outcome<DisturberSpec> spec = parse_disturber(text);
  return spec ? std::string() : spec.failure().message;
}

std::string objection_to_length(const std::string& text) {
  return parse_time(text) ? std::string() : "'" + text + "' is not a time such as 10s or 500ms";
}

void add_disturb(const Command& program) {
  const Command command = program.subcommand("disturb", "Disturb this machine or a command, as other jobs would");
  auto options = std::make_shared<DisturbOptions>();
  command.option("DISTURBER", options->disturbers, "What disturbs, and when: KIND or KIND:WHEN; may be repeated")
      .placeholder(any_of(disturber_names))
      .required()
      .check(objection_to_disturber);
  command.option("--for", options->lasts, "End after TIME, such as 10s. Default: end with the schedule, or at a signal")
      .placeholder("TIME")
      .check(objection_to_length);
  add_seed_option(command, options->seed);
  command.notes(disturber_help +
                std::string("A command after '--' is disturbed until it ends. It need not be an MPI program.\n"
                            "Exit status: that of the command, or 0 without one.\n"
                            "Examples:\n"
                            "  halcyon disturb memory:periodic:1s,1s --for 10s\n"
                            "  halcyon disturb cpu:bursts disk -- mpirun -np 2 ./app\n"
                            "  halcyon disturb network:part:2s..5s -- halcyon run -- mpirun -np 2 ./app"));
  command.starts([options](const Words& words) { return disturb(*options, words); }, FollowingProgram::optional);
}

}  // namespace halcyon::cli
