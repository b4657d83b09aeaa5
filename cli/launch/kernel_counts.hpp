// What the kernel of this host has counted so far of processes, threads and processors, from /proc.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace halcyon::cli {

std::vector<pid_t> processes_now();

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

/// s since a thread began.
struct ThreadTimes {
  double ran = 0.0;
  double waited = 0.0;  // it could have run and did not
};

/// The directories of the threads of a process. `proc`: where the kernel says what it counts.
std::vector<std::filesystem::path> threads_in(const std::string& proc, pid_t process);
/// By the name of a thread's directory; without those of which the kernel does not say.
std::map<std::string, ThreadTimes> times_of_threads(const std::string& proc, pid_t process);

/// s since the host started.
struct CpuUse {
  double used = 0.0;    // by anyone, also by interrupts
  double nice = 0.0;    // part of it: by programs of low priority
  double stolen = 0.0;  // by a hypervisor; no part of it
};

/// By the number of the processor. Empty without /proc.
std::map<int, CpuUse> use_of_cpus(const std::string& proc);

}  // namespace halcyon::cli
