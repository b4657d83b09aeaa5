// What the processes of this host have used so far, from /proc.
#pragma once

#include <sys/types.h>

#include <functional>
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

/// All processes now.
std::vector<Sample> samples_now(const std::function<bool(pid_t process)>& is_watched);

}  // namespace halcyon::cli
