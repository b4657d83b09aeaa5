// halcyon witness: who had the CPUs that the ranks on this host waited for.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "analyzer/evidence/witnessed.hpp"
#include "cli/commands.hpp"
#include "cli/console/common_options.hpp"
#include "cli/console/output.hpp"
#include "cli/launch/signal_relay.hpp"
#include "cli/running/beside.hpp"
#include "cli/witness/looking.hpp"
#include "intm/spec.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "report/json.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_told = 10;
constexpr int not_started = 127;  // as shells have it

struct WitnessOptions {
  std::string lasts;  // --for
  std::string json;
  bool takes_samples = false;
};

void nap() {
  constexpr timespec moment{0, 50'000'000};
  nanosleep(&moment, nullptr);
}

std::string text_of(const Seen& seen) {
  std::string text;
  if (seen.parties.empty()) {
    text = fmt::format("no rank was taken off a CPU in {}\n", duration_text(seen.seconds));
  } else {
    text = fmt::format("the ranks waited {} in all while others had their CPUs, within {}\n", seconds(seen.waited_seconds),
                       duration_text(seen.seconds));
  }
  for (std::size_t i = 0; i < std::min(most_told, seen.parties.size()); ++i) {
    const auto& [party, lost] = seen.parties[i];
    text += fmt::format("{:>4.0f} %  {:>8}  {}\n", 100.0 * lost / seen.waited_seconds, seconds(lost), words_of(party));
  }
  if (seen.lost_records > 0)
    text += fmt::format("{} records of the kernel were lost: the shares are not exact\n", seen.lost_records);
  return text + fmt::format("the witness used {} of CPU time, {} % of a core\n", seconds(seen.cpu_seconds),
                            decimal(100.0 * seen.cpu_seconds / seen.seconds, 2));
}

ordered_json json_of(const Seen& seen) {
  ordered_json parties = ordered_json::array();
  for (const auto& [party, lost] : seen.parties) {
    parties.push_back(party_json(party, lost, seen.waited_seconds));
  }
  return {{"by", seen.by},
          {"seconds", seen.seconds},
          {"waited_seconds", seen.waited_seconds},
          {"parties", std::move(parties)},
          {"lost_records", seen.lost_records},
          {"cpu_seconds", seen.cpu_seconds}};
}

// Until the command, the time or a signal ends it. Returns the exit status.
int wait_for_end(const Words& command, double seconds, SignalRelay& relay) {
  if (!command.empty()) {
    Outcome<Job> job = Job::start({.words = command});
    if (!job) {
      fail(job.failure().message);
      return not_started;
    }
    const Outcome<JobEnd> end = relay.wait(*job);
    return end ? end->status : fail(end.failure().message);
  }
  const double until = monotonic_seconds() + seconds;
  while (relay.asked_to_end() == 0 && monotonic_seconds() < until) nap();
  return passed;
}

int witness(const WitnessOptions& options, const Words& command) {
  if (!command.empty() && !options.lasts.empty())
    return fail("--for cannot be used with a command, which is watched until it ends");
  std::optional<Switches> switches;
  if (!options.takes_samples) {
    Outcome<Switches> opened = Switches::open();
    if (opened) {
      switches.emplace(std::move(*opened));
    } else {
      tell(opened.failure().message + "; samples of /proc are used, which are rough");
    }
  }
  SignalRelay relay;
  Witness witness(std::move(switches), command.empty() ? 0 : getpid());
  std::optional<ThreadBeside> watching;
  watching.emplace([&witness](const std::stop_token& stop) { witness.watch(stop); });
  const double seconds = options.lasts.empty() ? 1e9 : 1e-9 * parse_time(options.lasts).value_or(0.0);
  const int status = wait_for_end(command, seconds, relay);
  watching.reset();
  const Seen seen = witness.seen();
  const Status printed = print_result(text_of(seen), json_of(seen), options.json);
  return printed ? status : fail(printed.failure().message);
}

}  // namespace

void add_witness(const Command& program) {
  const Command command = program.subcommand("witness", "Say who had the CPUs that MPI ranks on this host waited for");
  auto options = std::make_shared<WitnessOptions>();
  command.option("--for", options->lasts, "End after TIME, such as 10s. Default: end with the command, or at a signal")
      .placeholder("TIME")
      .check(objection_to_length);
  command.flag("--samples", options->takes_samples, "Use samples of /proc though context switches could be seen");
  add_json_option(command, options->json);
  command.notes(
      "It reads the kernel's records of context switches. A rank that is taken off its CPU although it could go on\n"
      "waits, and what runs there meanwhile has what it waits for. Watched are the ranks of the command on this host;\n"
      "without one, all ranks on it.\n"
      "That needs root, CAP_PERFMON, or kernel.perf_event_paranoid of 0 or less; no hardware counter. Without it, "
      "what\n"
      "ranks waited is divided among those who used the same CPUs between samples of /proc, which is rough.\n"
      "Exit status: that of the command, or 0 without one.\n"
      "Examples:\n"
      "  halcyon witness -- mpirun -np 4 ./app\n"
      "  halcyon witness --for 60s --json who.json");
  command.starts([options](const Words& words) { return witness(*options, words); }, FollowingProgram::optional);
}

}  // namespace halcyon::cli
