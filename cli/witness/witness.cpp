// halcyon witness: who had the CPUs that the ranks on this host waited for.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/commands.hpp"
#include "cli/console/common_options.hpp"
#include "cli/console/output.hpp"
#include "cli/launch/signal_relay.hpp"
#include "cli/witness/processes.hpp"
#include "cli/witness/samples.hpp"
#include "cli/witness/switches.hpp"
#include "cli/witness/waits.hpp"
#include "intm/spec.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "report/json.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

using nlohmann::ordered_json;

constexpr double between_looks = 0.5;     // s
constexpr double most_of_a_core = 0.001;  // that samples use
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

/// What a witness saw.
struct Seen {
  std::string_view by;
  double seconds = 0.0;
  double waited_seconds = 0.0;
  std::vector<std::pair<Party, double>> parties;  // s; the longest first
  std::uint64_t lost_records = 0;
  double cpu_seconds = 0.0;  // of the witness
};

/// Looks until it is told to end.
class Witness {
 public:
  /// `ancestor`: of the ranks that are watched; 0: all on this host are.
  Witness(std::optional<Switches> switches, pid_t ancestor)
      : switches_(std::move(switches)), processes_(ancestor), waits_(is_watched_) {}

  void watch(const std::atomic<bool>& is_over) {
    const std::uint64_t began = Switches::now();
    const double cpu_began = cpu_seconds();
    while (!is_over) switches_ ? read_switches(between_looks) : take_samples(is_over);
    switches_ ? read_switches(0.0) : take_samples(is_over);
    waits_.end(Switches::now());
    seen_.seconds = 1e-9 * static_cast<double>(Switches::now() - began);
    seen_.cpu_seconds = cpu_seconds() - cpu_began;
  }

  Seen seen() {
    std::map<Party, double> parties;
    for (const auto& [process, seconds] : switches_ ? waits_.by_process() : sampled_.by_process())
      parties[processes_.party_of(process)] += seconds;
    seen_.parties.assign(parties.begin(), parties.end());
    std::ranges::stable_sort(seen_.parties, std::greater(), &std::pair<Party, double>::second);
    for (const auto& [party, seconds] : seen_.parties) seen_.waited_seconds += seconds;
    seen_.by = switches_ ? "switches" : "samples";
    if (switches_) seen_.lost_records = switches_->lost();
    return seen_;
  }

 private:
  static double cpu_seconds() { return 1e-9 * static_cast<double>(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID)); }

  void read_switches(double seconds) {
    records_.clear();
    switches_->read(seconds, records_);
    for (const Record& record : records_) {
      if (const auto* one = std::get_if<Switch>(&record.what)) waits_.add(*one);
      if (const auto* forked = std::get_if<Forked>(&record.what)) processes_.add(*forked);
      if (const auto* renamed = std::get_if<Renamed>(&record.what)) processes_.add(*renamed);
    }
  }

  // As seldom as keeps it cheap, however many processes there are.
  void take_samples(const std::atomic<bool>& is_over) {
    const double began = cpu_seconds();
    const std::vector<Sample> samples = samples_now(is_watched_);
    for (const Sample& sample : samples) processes_.see(sample.process, sample.name);
    sampled_.add(samples);
    const double pause = std::max(between_looks, (cpu_seconds() - began) / most_of_a_core);
    const double until = monotonic_seconds() + pause;
    while (!is_over && monotonic_seconds() < until) nap();
  }

  std::optional<Switches> switches_;  // none: samples
  Processes processes_;
  std::function<bool(pid_t)> is_watched_ = [this](pid_t process) { return processes_.is_watched(process); };
  WaitsForCpus waits_;
  SampledWaits sampled_;
  std::vector<Record> records_;
  Seen seen_;
};

std::string words_of(const Party& party) {
  switch (party.whose) {
    case Whose::nobody: return "nobody who was seen";
    case Whose::ranks: return party.program + ", the ranks themselves";
    case Whose::kernel: return party.program + ", the kernel";
    case Whose::own_job: return party.program + ", of the same job";
    case Whose::other_job: return fmt::format("{} of {}, job {}", party.program, party.user, party.job);
    case Whose::service: return fmt::format("{}, service {}", party.program, party.service);
    case Whose::other: return fmt::format("{} of {}", party.program, party.user);
  }
  return {};
}

std::string text_of(const Seen& seen) {
  std::string text;
  if (seen.parties.empty()) {
    text = fmt::format("no rank was taken off a CPU in {}\n", duration_text(seen.seconds));
  } else {
    text = fmt::format("the ranks waited {} while others had their CPUs, within {}\n", seconds(seen.waited_seconds),
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
    parties.push_back({{"whose", whose_codes[static_cast<std::size_t>(party.whose)]},
                       {"program", text_or_null(party.program)},
                       {"user", text_or_null(party.user)},
                       {"job", text_or_null(party.job)},
                       {"service", text_or_null(party.service)},
                       {"seconds", lost},
                       {"percent", 100.0 * lost / seen.waited_seconds}});
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
    return misuse("--for cannot be used with a command, which is watched until it ends");
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
  std::atomic<bool> is_over = false;
  std::thread watching([&] { witness.watch(is_over); });
  const double seconds = options.lasts.empty() ? 1e9 : 1e-9 * parse_time(options.lasts).value_or(0.0);
  const int status = wait_for_end(command, seconds, relay);
  is_over = true;
  watching.join();
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
