// Who may have had the CPUs that watched processes waited for, from samples of /proc: for those who may not see context
// switches.
#pragma once

#include <sys/types.h>

#include <map>
#include <utility>
#include <vector>

#include "cli/launch/kernel_counts.hpp"

namespace halcyon::cli {

/// What a watched process waited between two samples was had by the others that used the CPU where it is, in proportion
/// to what they used meanwhile. If none did, nobody is seen: it was short-lived, or is elsewhere by now.
class SampledWaits {
 public:
  void add(const std::vector<Sample>& samples);

  /// s by process; 0 is nobody.
  /// Begins anew.
  std::map<pid_t, double> take() { return std::exchange(seconds_, {}); }

 private:
  std::map<pid_t, Sample> before_;
  std::map<pid_t, double> seconds_;
};

}  // namespace halcyon::cli
