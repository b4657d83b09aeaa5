// The limits on CPU time of the control groups that a process is in: those of containers and batch systems.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halcyon {

/// A group with a limit. Its processes are held back for the rest of a period in which they have used up their time.
struct LimitedGroup {
  double cpus = 0.0;             // that they may use at a time, on average
  std::string counters;          // the file that tells for how long they were held back, summed over CPUs
  std::string_view key;          // before that time
  double seconds_of_unit = 0.0;  // of that time
};

/// The groups of a process that have a limit, from its own one upwards. `groups`: what /proc/self/cgroup says
/// (cgroups(7)). `root`: where the hierarchies of version 1, and that of version 2, are mounted. Allocates memory.
std::vector<LimitedGroup> limited_groups(std::string_view groups, const std::string& root = "/sys/fs/cgroup");

}  // namespace halcyon
