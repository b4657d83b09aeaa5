// A witness: looks at this host until it is told to end, and says who had the CPUs that ranks waited for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/witness/processes.hpp"
#include "cli/witness/samples.hpp"
#include "cli/witness/switches.hpp"
#include "cli/witness/waits.hpp"
#include "libprofile/format/witnessed.hpp"

namespace halcyon::cli {

/// What a witness saw.
struct Seen {
  std::string_view by;
  double seconds = 0.0;
  double waited_seconds = 0.0;
  std::vector<std::pair<Party, double>> parties;  // s; the longest first
  std::uint64_t lost_records = 0;
  double cpu_seconds = 0.0;  // of the witness
};

class Witness {
 public:
  /// Without `switches`, it takes samples. `ancestor`: of the ranks that are watched; 0: all on this host are.
  Witness(std::optional<Switches> switches, pid_t ancestor);

  /// Returns soon after it is asked to stop.
  void watch(const std::stop_token& stop);
  /// After that.
  Seen seen();

 private:
  void tell_apart();
  void read_switches(double seconds);
  void take_sample();

  std::optional<Switches> switches_;
  Processes processes_;
  std::function<bool(pid_t)> is_watched_ = [this](pid_t process) { return processes_.is_watched(process); };
  WaitsForCpus waits_;
  SampledWaits sampled_;
  std::vector<Record> records_;
  std::map<Party, double> parties_;  // s
  Seen seen_;
};

/// As a profile has it: without those that had less than a thousandth.
Witnessed in_profile(const Seen& seen);

}  // namespace halcyon::cli
