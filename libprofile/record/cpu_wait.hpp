// How long the threads that end segments were ready to run while others had the CPU: the kernel's account of them.
#pragma once

#include <cstdint>
#include <optional>

#include "libprofile/record/cpu_account.hpp"
#include "libprofile/shared/clock.hpp"
#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {

/// How much opening and reading the schedstat of a thread takes at most, and reading it alone: ns.
inline constexpr double opening_schedstat_ns = 17'500.0;
inline constexpr double reading_schedstat_ns = 2'500.0;
/// It is worth it after so many times as long off the CPU, which makes 0.5 %.
inline constexpr double off_cpu_for_asking = 200.0;

/// What one thread had waited when the kernel was last asked.
struct CpuWaitOfThread {
  std::uint64_t waited = 0;  // ns
  Ticks off_cpu;
  bool was_asked = false;
};

/// Asks only after so much time off the CPU that it takes at most 0.5 % of this, for any rate of segments. Keeps the
/// file of the thread that asked last. Called by one thread at a time. Allocates nothing.
class CpuWait {
 public:
  void begin(double ticks_per_nanosecond);

  /// The waits of the calling thread until now are in no segment. `off_cpu`: its time off the CPU since it began.
  void restart(CpuWaitOfThread& thread, Ticks off_cpu);

  /// The wait of the calling thread since the kernel was last asked. 0 if it is not worth it, or the kernel does not
  /// say.
  Ticks take(CpuWaitOfThread& thread, Ticks off_cpu) {
    if (__builtin_expect(least_off_cpu_ > off_cpu - thread.off_cpu, 1)) return {};
    return ask(thread, off_cpu);
  }

 private:
  [[gnu::noinline]] Ticks ask(CpuWaitOfThread& thread, Ticks off_cpu);
  std::optional<std::uint64_t> waited();

  double ticks_per_nanosecond_ = 1.0;
  Ticks least_off_cpu_;
  Ticks least_off_cpu_to_open_;
  OwnDescriptor file_;  // schedstat of thread_
  int thread_ = 0;
};

}  // namespace halcyon
