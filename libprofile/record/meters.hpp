// The clocks and the counter that measure calls and stretches of computation, the same for the whole run.
#pragma once

#include <cstdint>

#include "libprofile/record/cpu_account.hpp"
#include "libprofile/record/threads.hpp"
#include "libprofile/shared/clock.hpp"
#include "libprofile/shared/counter.hpp"

namespace halcyon {

/// Constructed before MPI_Init, so that the clock's rate is measured over a long enough time when it is first needed.
struct Meters {
  Clock clock;
  TickScale scale{clock};
  Counter counter;
  // In ticks by a first estimate of the clock's rate; the profile uses the rate over the whole run.
  CpuClockUse cpu_clock_use;
  Ticks noticeable_delay;  // of one call
  Ticks clock_resolution;

  /// Chooses the counter, and estimates the clock's rate. If a request cannot be met, `complaint` says why.
  void start(const CounterRequest& request, std::string& complaint);

  double seconds_of(double ticks) const { return ticks * scale.nanoseconds_per_tick() * 1e-9; }
  Ticks ticks_of(double seconds) const {
    return {static_cast<std::uint64_t>(seconds * 1e9 / scale.nanoseconds_per_tick())};
  }

  /// A stretch of computation ends when a call begins at `entry`; the next one begins when the call returns at `exit`.
  [[gnu::always_inline]] void end_computation(ThreadState& thread, Ticks entry) const {
    const Ticks on_cpu = thread.cpu.on_cpu(entry - thread.last_exit, cpu_clock_use, thread_cpu_time);
    thread.last_exit = entry;  // in case an exception or a jump leaves the call
    if (counter.kind() == Counter::Kind::cpu) {
      thread.work += on_cpu.count;
    } else if (counter.kind() == Counter::Kind::papi) {
      thread.work += counter.read_papi() - thread.events_at_exit;
    }
  }
  [[gnu::always_inline]] void begin_computation(ThreadState& thread, Ticks entry, Ticks exit) const {
    thread.last_exit = exit;
    thread.cpu.on_cpu(exit - entry, cpu_clock_use, thread_cpu_time);
    if (counter.kind() == Counter::Kind::papi) thread.events_at_exit = counter.read_papi();
  }
  /// The time since the last call belongs to no stretch. Returns the current time.
  Ticks restart(ThreadState& thread) const {
    thread.cpu.restart(thread_cpu_time());
    if (counter.kind() == Counter::Kind::papi) thread.events_at_exit = counter.read_papi();
    thread.last_exit = clock.now();
    return thread.last_exit;
  }
};

}  // namespace halcyon
