// The operating system's counters of this process and its host.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libprofile/format/evidence.hpp"
#include "libprofile/record/control_groups.hpp"

namespace halcyon {

class SystemTotals {
 public:
  /// Asks for what does not change, in the thread that calls MPI. Allocates memory.
  void begin();

  /// Sums since some moment in the past: use the difference of two readings. Takes some tens of microseconds, and more
  /// for each other thread, so not for every segment. Async-signal-safe, and the same in every thread, but not in two
  /// at once.
  EvidenceValues read();

 private:
  struct CpuWaits;

  double number_in(const char* path, const char* key, int skipped);
  CpuWaits cpu_waits();
  void set_limits(EvidenceValues& totals);
  void add_cpus_of(pid_t thread);
  template <class Visit>
  void for_each_name(int directory, Visit visit);

  pid_t thread_ = 0;
  double ticks_per_second_ = 0.0;
  double cpus_ = 0.0;
  std::vector<ControlGroup> groups_;
  std::vector<double> throttled_;  // (groups) s, when last known
  // Not on the stack: that of a signal handler may be small.
  std::array<char, 4096> text_{};
  alignas(std::size_t) std::array<char, 4096> entries_{};
  std::array<std::uint64_t, 128> own_cpus_{};  // bits, of all threads
  std::array<std::uint64_t, 128> cpus_of_thread_{};
};

}  // namespace halcyon
