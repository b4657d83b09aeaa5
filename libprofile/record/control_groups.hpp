// The limits on CPU time of the control groups that a process is in: those of containers and batch systems.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halcyon {

/// A control group that may have a limit: its processes are held back for the rest of a period in which they have used
/// up their time. The names of its files.
struct ControlGroup {
  std::string quota;   // time that they may use in a period, then the period, if `period` is empty; no number: no limit
  std::string period;  // of version 1
  std::string counters;  // has, after `key`, for how long they were held back, summed over CPUs
  const char* key = "";
  double seconds_of_unit = 0.0;  // of that time
};

/// Those of a process, from its own one upwards. `groups`: what /proc/self/cgroup says (cgroups(7)). `root`: where the
/// hierarchies of version 1, and that of version 2, are mounted. Allocates memory.
std::vector<ControlGroup> control_groups(std::string_view groups, const std::string& root = "/sys/fs/cgroup");

}  // namespace halcyon
