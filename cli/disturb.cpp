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

namespace halcyon::cli {
namespace {

constexpr int not_started = 127;  // as shells have it

struct Options {
  std::vector<std::string> disturbers;
  std::string lasts;  // --for
  std::uint64_t seed = 1;
};

class SignalsAwaited {
 public:
  SignalsAwaited() {
    sigemptyset(&awaited_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&awaited_, signal);
    sigprocmask(SIG_BLOCK, &awaited_, &before_);
  }
  ~SignalsAwaited() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsAwaited(const SignalsAwaited&) = delete;
  SignalsAwaited& operator=(const SignalsAwaited&) = delete;

  /// One that came meanwhile, or 0.
  int wait(double seconds) const {
    const timespec most{static_cast<time_t>(seconds), static_cast<long>(std::fmod(seconds, 1.0) * 1e9)};
    return std::max(0, sigtimedwait(&awaited_, nullptr, &most));
  }

 private:
  sigset_t awaited_{};
  sigset_t before_{};
};

// Until all schedules are over, the time is, or a signal comes: that one, or 0.
int let_work(const std::vector<Disturber>& disturbers, double seconds) {
  const SignalsAwaited signals;
  const auto began = std::chrono::steady_clock::now();
  constexpr double between_looks = 0.05;
  const auto is_over = [](const Disturber& disturber) { return disturber.is_over(); };
  for (;;) {
    const double left = seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (left <= 0.0 || std::all_of(disturbers.begin(), disturbers.end(), is_over)) return 0;
    if (const int signal = signals.wait(std::min(left, between_looks)); signal != 0) return signal;
  }
}

int disturb(const Options& options, const Words& command) {
  const bool lasts_as_long_as_command = !command.empty();
  if (lasts_as_long_as_command && !options.lasts.empty()) {
    return fail("--for goes without a command, which is disturbed to its end: for a part of it part:FROM..TO");
  }
  const double seconds =
      options.lasts.empty() ? std::numeric_limits<double>::infinity() : 1e-9 * parse_time(options.lasts).value_or(0.0);
  std::vector<DisturberSpec> specs;
  std::optional<TwoHosts> hosts;
  for (const std::string& text : options.disturbers) {
    specs.push_back(*parse_disturber(text));
    if (needs_length(specs.back().schedule) && !std::isfinite(seconds)) {
      return fail("'" + text + "': how long it lasts is not known; name times, such as part:2s..5s, or give --for");
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
    signal = let_work(disturbers, seconds);
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
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  return status;
}

}  // namespace

const char* const disturber_help =
    "KIND is cpu (one core kept busy), memory (streams through arrays larger than the caches), disk (writers with\n"
    "fsync in the current directory, in 128 MiB) or network (streams through a link of 1 Gbit/s between two hosts "
    "made\n"
    "of this one, on which the command runs then: Open MPI's mpirun, as root, with iproute2).\n"
    "WHEN is throughout (the default), part[:FROM..TO], in times or percent of the run (25%..75%), periodic[:ON,OFF] "
    "(1s,1s)\n"
    "or bursts[:ON,OFF], which come by chance with such means (200ms,600ms).\n";

std::string objection_to_disturber(const std::string& text) {
  const Outcome<DisturberSpec> spec = parse_disturber(text);
  return spec ? std::string() : spec.failure().message;
}

void add_disturb(const Command& program) {
  const Command command = program.subcommand("disturb", "Disturb this machine, or a command, as other jobs would");
  auto options = std::make_shared<Options>();
  command.option("DISTURBER", options->disturbers, "What is disturbed, and when: KIND or KIND:WHEN; several at once")
      .placeholder("cpu|memory|disk|network")
      .required()
      .check(objection_to_disturber);
  command.option("--for", options->lasts, "End after such a time as 10s. Default: at a signal, or the schedule's end")
      .placeholder("TIME")
      .check([](const std::string& text) {
        return parse_time(text) ? std::string() : "'" + text + "' is not a time such as 10s or 500ms";
      });
  command.option("--seed", options->seed, "Of bursts, for the same ones again. Default: 1").placeholder("N");
  command.notes(disturber_help +
                std::string("The command behind '--', if there is one, is disturbed to its end; it need be no MPI "
                            "program.\n"
                            "Exit status: 0 done, or the command's; 2 bad usage, or a disturber could not work.\n"
                            "Examples:\n"
                            "  halcyon disturb memory:periodic:1s,1s --for 10s\n"
                            "  halcyon disturb cpu:bursts disk -- mpirun -np 2 ./app\n"
                            "  halcyon disturb network:part:2s..5s -- halcyon run -- mpirun -np 2 ./app"));
  command.starts([options](const Words& words) { return disturb(*options, words); });
}

}  // namespace halcyon::cli
