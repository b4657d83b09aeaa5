// Who had the CPUs that watched threads waited for, from the kernel's records of context switches.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace halcyon::cli {

struct Thread {
  pid_t process = 0;  // 0: the CPU is idle
  pid_t number = 0;
};

/// On a CPU, one thread takes the place of another one.
struct Switch {
  std::uint32_t cpu = 0;
  std::uint64_t nanoseconds = 0;
  Thread before;
  Thread after;
  bool is_preempted = false;  // the one before would have gone on
};

/// A thread that was taken off its CPU although it could go on waits until it runs again, there or elsewhere. All that
/// ran on that CPU meanwhile had what it waited for. Threads that were woken and do not run yet are not seen: the
/// kernel tells of that only by tracing.
class WaitsForCpus {
 public:
  explicit WaitsForCpus(std::function<bool(pid_t process)> is_watched) : is_watched_(std::move(is_watched)) {}

  /// In the order of time.
  void add(const Switch& one);
  /// Waits that have not ended count until then.
  void end(std::uint64_t nanoseconds);

  /// s that watched threads waited while this process ran on their CPU; 0 is nobody.
  /// Begins anew.
  std::map<pid_t, double> take() { return std::exchange(seconds_, {}); }

 private:
  struct Running {
    Thread thread;
    std::uint64_t since = 0;
  };
  struct Waiting {
    Thread thread;
    std::uint64_t since = 0;
  };
  struct Cpu {
    Running running;
    std::vector<Waiting> waiting;
  };

  void count(Cpu& cpu, std::uint64_t now);
  void stop_waiting(pid_t thread, std::uint64_t now);

  std::function<bool(pid_t)> is_watched_;
  std::map<std::uint32_t, Cpu> cpus_;
  std::map<pid_t, std::uint32_t> waits_on_;  // thread: CPU
  std::map<pid_t, double> seconds_;
};

}  // namespace halcyon::cli
