// A disturber: what it does and when. Its workers are processes beside a program, as those of other jobs would be.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/disturbers/schedule.hpp"
#include "cli/disturbers/two_hosts.hpp"
#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

enum class DisturberKind : std::uint8_t { cpu, memory, disk, network };

struct DisturberSpec {
  DisturberKind kind = DisturberKind::cpu;
  Schedule schedule;
};

/// Reads `KIND` or `KIND:SCHEDULE`; throughout, if nothing else is said.
Outcome<DisturberSpec> parse_disturber(std::string_view text);
std::string text_of(const DisturberSpec& spec);

/// What a disturber has done, over all its workers.
struct DisturberWork {
  std::uint64_t stretches = 0;   // of the schedule, that were begun
  double working_seconds = 0.0;  // of the worker that worked longest
  std::uint64_t amount = 0;      // nanoseconds of CPU time, or bytes
};
/// "1.52 s in 3 stretches, 41.2 GB read and written"
std::string text_of(const DisturberWork& work, DisturberKind kind);

/// What a disturber must know of the run beside which it works.
struct DisturbedRun {
  double begins_in_seconds = 0.0;   // from now on; nothing is done before
  double seconds = 0.0;             // for parts in shares of it
  std::uint64_t seed = 1;           // of bursts
  const TwoHosts* hosts = nullptr;  // must be there for the network
};

/// Works as long as it lives, and never outlives this process, however that ends.
class Disturber {
 public:
  /// Comes back when all workers are ready. A failure says what a worker could not have.
  static Outcome<Disturber> start(const DisturberSpec& spec, const DisturbedRun& run);
  Disturber(Disturber&& other) noexcept;
  Disturber& operator=(Disturber&&) = delete;
  ~Disturber();

  /// Ends the workers, and tells what they did; a failure if one could not go on.
  Outcome<DisturberWork> end();
  /// Whether its schedule has an end and is over, or it could not go on.
  bool is_over() const;

 private:
  struct Account;
  Disturber() = default;

  Account* account_ = nullptr;  // shared with the workers
  std::vector<pid_t> workers_;
};

}  // namespace halcyon::cli
