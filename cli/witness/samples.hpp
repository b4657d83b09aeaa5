// Who may have had the CPUs that watched processes waited for, from samples of /proc: for those who may not see context
// switches.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace halcyon::cli {

/// A process at one moment.
struct Sample {
  pid_t process = 0;
  std::string name;
  int cpu = 0;                  // where it ran last
  double cpu_seconds = 0.0;     // that it used since it began
  double waited_seconds = 0.0;  // that its threads could have run and did not; only if it is watched
};

/// What a watched process waited between two samples was had by the others that used the CPU where it is, in proportion
/// to what they used meanwhile. If none did, nobody is seen: it was short-lived, or is elsewhere by now.
class SampledWaits {
 public:
  void add(const std::vector<Sample>& samples);

  /// s by process; 0 is nobody.
  const std::map<pid_t, double>& by_process() const { return seconds_; }

 private:
  std::map<pid_t, Sample> before_;
  std::map<pid_t, double> seconds_;
};

/// All processes now.
std::vector<Sample> samples_now(const std::function<bool(pid_t process)>& is_watched);

}  // namespace halcyon::cli
