#include "cli/disturbers/disturber.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "cli/disturbers/bound_process.hpp"
#include "cli/disturbers/kinds.hpp"
#include "libprofile/system/in_order.hpp"
#include "libprofile/system/lists_of_names.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon::cli {
namespace {

struct Kind {
  DisturberKind kind;
  bool is_in_seconds;    // its amount is CPU time in ns, not bytes
  std::string_view did;  // follows the amount
  int (*workers)();
  Outcome<Piece> (*prepare)(const WorkerPlace& place);
};

constexpr std::array<Kind, 4> kinds{{{DisturberKind::cpu, true, "of CPU time", cpu_workers, cpu_work},
                                     {DisturberKind::memory, false, "read and written", memory_workers, memory_work},
                                     {DisturberKind::disk, false, "written", disk_workers, disk_work},
                                     {DisturberKind::network, false, "sent", network_workers, network_work}}};
static_assert(in_order(kinds, &Kind::kind) && kinds.size() == disturber_names.size());
std::string_view name_of(DisturberKind kind) { return disturber_names[static_cast<std::size_t>(kind)]; }
const Kind& kind_of(DisturberKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

using Clock = std::chrono::steady_clock;

// Seconds since the run began.
class RunClock {
 public:
  explicit RunClock(Clock::time_point began) : began_(began) {}
  double now() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  void sleep_until(double seconds) const { std::this_thread::sleep_until(at(seconds)); }
  Clock::time_point at(double seconds) const {
    return began_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

 private:
  Clock::time_point began_;
};

std::string bytes_text(double bytes) {
  for (const auto& [unit, size] : {std::pair("TB", 1e12), {"GB", 1e9}, {"MB", 1e6}}) {
    if (bytes >= size) return fmt::format("{:.3g} {}", bytes / size, unit);
  }
  return fmt::format("{:.0f} bytes", bytes);
}

constexpr std::size_t most_workers = 16;

}  // namespace

struct Disturber::Account {
  std::atomic<std::uint64_t> stretches{0};
  std::atomic<std::uint64_t> amount{0};
  std::array<std::atomic<std::uint64_t>, most_workers> nanoseconds{};
  std::atomic<std::size_t> workers_over{0};
  std::atomic<int> failures{0};
  std::array<char, 256> failure{};  // the message of the first one
};

Outcome<DisturberSpec> parse_disturber(std::string_view text) {
  const std::size_t colon = text.find(':');
  for (const Kind& kind : kinds) {
    if (text.substr(0, colon) != name_of(kind.kind)) continue;
    DisturberSpec spec{.kind = kind.kind, .schedule = Throughout{}};
    if (colon == std::string_view::npos) return spec;
    const Outcome<Schedule> schedule = parse_schedule(text.substr(colon + 1));
    if (!schedule) return schedule.failure();
    spec.schedule = *schedule;
    return spec;
  }
  return Failure{"'" + std::string(text) + "' does not begin with " + one_of(disturber_names)};
}

std::string text_of(const DisturberSpec& spec) {
  return std::string(name_of(spec.kind)) + ":" + text_of(spec.schedule);
}

std::string text_of(const DisturberWork& work, DisturberKind kind) {
  const auto amount = static_cast<double>(work.amount);
  const Kind& of = kind_of(kind);
  return fmt::format("{:.2f} s in {}, {} {}", work.working_seconds, plural(work.stretches, "stretch", "stretches"),
                     of.is_in_seconds ? fmt::format("{:.2f} s", 1e-9 * amount) : bytes_text(amount), of.did);
}

Outcome<Disturber> Disturber::start(const DisturberSpec& spec, const DisturbedRun& run) {
  void* const shared = mmap(nullptr, sizeof(Account), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return Failure{std::string("cannot share memory: ") + std::strerror(errno)};
  Disturber disturber;
  Account& account = *(disturber.account_ = new (shared) Account);
  const Kind& kind = kind_of(spec.kind);
  const RunClock clock(RunClock(Clock::now()).at(run.begins_in_seconds));
  const int workers = std::min(kind.workers(), static_cast<int>(most_workers));
  for (int number = 0; number < workers; ++number) {
    Piece piece;
    const auto prepare = [&]() -> Status {
      Outcome<Piece> prepared = kind.prepare({number, run.hosts});
      if (!prepared) return prepared.failure();
      piece = std::move(*prepared);
      return Done{};
    };
    const auto begin = [&account, number] { account.stretches += number == 0 ? 1 : 0; };
    const auto work = [&] {
      const Clock::time_point began = Clock::now();
      const Outcome<std::uint64_t> done = piece();
      account.nanoseconds[static_cast<std::size_t>(number)] +=
          static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - began).count());
      if (done) {
        account.amount += *done;
      } else if (account.failures++ == 0) {
        done.failure().message.copy(account.failure.data(), account.failure.size() - 1);
      }
      return static_cast<bool>(done);
    };
    const Outcome<pid_t> worker = start_bound(prepare, [&] {
      // The same seed gives all workers the same stretches.
      follow(Stretches(spec.schedule, run.seconds, run.seed), clock, begin, work);
      ++account.workers_over;
    });
    if (!worker) return Failure{std::string(name_of(kind.kind)) + ": " + worker.failure().message};
    disturber.workers_.push_back(*worker);
  }
  return disturber;
}

Disturber::Disturber(Disturber&& other) noexcept
    : account_(std::exchange(other.account_, nullptr)), workers_(std::exchange(other.workers_, {})) {}

Disturber::~Disturber() {
  for (const pid_t worker : workers_) end_bound(worker);
  if (account_ != nullptr) munmap(account_, sizeof(Account));
}

Outcome<DisturberWork> Disturber::end() {
  for (const pid_t worker : std::exchange(workers_, {})) end_bound(worker);
  if (account_->failures > 0) return Failure{account_->failure.data()};
  std::uint64_t longest = 0;
  for (const std::atomic<std::uint64_t>& nanoseconds : account_->nanoseconds) {
    longest = std::max(longest, nanoseconds.load());
  }
  return DisturberWork{account_->stretches, 1e-9 * static_cast<double>(longest), account_->amount};
}

bool Disturber::is_over() const { return account_->workers_over == workers_.size(); }

}  // namespace halcyon::cli
