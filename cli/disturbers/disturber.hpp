// A disturber: what it does and when. Its workers are separate processes, like those of other jobs.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/disturbers/schedule.hpp"
#include "cli/disturbers/two_hosts.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

enum class DisturberKind : std::uint8_t { cpu, memory, disk, network };
inline constexpr std::array<std::string_view, 4> disturber_names{"cpu", "memory", "disk", "network"};

struct DisturberSpec {
  DisturberKind kind = DisturberKind::cpu;
  Schedule schedule;
};

/// Reads `KIND` or `KIND:SCHEDULE`; the default schedule is `throughout`.
Outcome<DisturberSpec> parse_disturber(std::string_view text);
std::string text_of(const DisturberSpec& spec);

/// The work of a disturber, summed over its workers.
struct DisturberWork {
  std::uint64_t stretches = 0;   // begun stretches of the schedule
  double working_seconds = 0.0;  // of the worker that worked longest
  std::uint64_t amount = 0;      // nanoseconds of CPU time, or bytes
};
/// "1.52 s in 3 stretches, 41.2 GB read and written"
std::string text_of(const DisturberWork& work, DisturberKind kind);

/// What a disturber must know about the run that it disturbs.
struct DisturbedRun {
  double begins_in_seconds = 0.0;   // from now; the disturber does nothing before
  double seconds = 0.0;             // length of the run, for parts in percent of it
  std::uint64_t seed = 1;           // of bursts
  const TwoHosts* hosts = nullptr;  // needed for the network
};

/// Works as long as the object lives, and never outlives this process, for any end of it.
class Disturber {
 public:
  /// Returns when all workers are ready. A failure says what a worker could not get.
  static Outcome<Disturber> start(const DisturberSpec& spec, const DisturbedRun& run);
  Disturber(Disturber&& other) noexcept;
  Disturber& operator=(Disturber&&) = delete;
  ~Disturber();

  /// Ends the workers and returns what they did; a failure if one could not continue.
  Outcome<DisturberWork> end();
  /// Whether all workers have ended: the schedule is over, or they could not continue.
  bool is_over() const;

 private:
  struct Account;
  Disturber() = default;

  Account* account_ = nullptr;  // shared with the workers
  std::vector<pid_t> workers_;
};

}  // namespace halcyon::cli
