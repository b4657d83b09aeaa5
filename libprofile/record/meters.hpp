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

  bool counts_events() const { return __builtin_expect(counter.kind() == Counter::Kind::papi, 0); }

  /// A stretch of computation ends when a call begins at `entry`; the next one begins when the call returns at `exit`.
  /// Polls within the stretch belong to MPI.
  [[gnu::always_inline]] void end_computation(ThreadState& thread, Ticks entry) const {
    if (counts_events()) return end_counted(thread, entry);
    end_stretch(thread, entry, [](Ticks on_cpu) { return on_cpu.count; });
  }
  /// A poll that began at `entry`, and for the counter of events at `began`, has found nothing.
  [[gnu::noinline]] void time_poll(ThreadState& thread, Ticks entry, std::uint64_t began) const {
    const Ticks took = clock.now() - entry - clock_resolution;
    thread.polling.timed(took, counter.papi().end_stretch(thread.events, began));
  }
  /// Called at the first call of each thread that is counted by events; later calls do nothing. Not async-signal-safe.
  [[gnu::always_inline]] void begin_counting(ThreadState& thread) const {
    if (!counts_events() || thread.events.state != EventsOfThread::State::not_begun) return;
    counter.papi().begin(thread.events);
    count_from_here(thread);
  }
  /// A call has lasted from `entry` to `exit`. When the recorder has noted it, count_from_here() must follow.
  [[gnu::always_inline]] void begin_computation(ThreadState& thread, Ticks entry, Ticks exit) const {
    thread.last_exit = exit;
    thread.cpu.on_cpu(exit - entry, cpu_clock_use, thread_cpu_time);
  }
  /// Events up to now are of no computation: they are MPI's, of waiting, or the recorder's own.
  [[gnu::always_inline]] void count_from_here(ThreadState& thread) const {
    if (counts_events()) begin_counted(thread);
  }
  /// What the thread did since its last stretch of computation ended was waiting, unless it `goes_on`.
  void wait_ends(ThreadState& thread, bool goes_on) const {
    if (goes_on) return;
    const Ticks now = clock.now();
    thread.cpu.wait(now - thread.last_exit, cpu_clock_use, thread_cpu_time);
    thread.last_exit = now;
    count_from_here(thread);
  }
  /// The time since the last call belongs to no stretch. Returns the current time.
  Ticks restart(ThreadState& thread) const {
    thread.cpu.restart(thread_cpu_time());
    thread.last_exit = clock.now();
    count_from_here(thread);
    return thread.last_exit;
  }

 private:
  /// With a counter of events, which is read first, since what the rest does counts, too.
  [[gnu::noinline]] void end_counted(ThreadState& thread, Ticks entry) const {
    const std::uint64_t events = counter.papi().end_stretch(thread.events, thread.events_began);
    end_stretch(thread, entry, [events](Ticks) { return events; });
  }
  [[gnu::noinline]] void begin_counted(ThreadState& thread) const {
    thread.events_began = counter.papi().begin_stretch(thread.events);
  }
  template <class WorkOf>
  [[gnu::always_inline]] void end_stretch(ThreadState& thread, Ticks entry, WorkOf work_of) const {
    const Ticks stretch = entry - thread.last_exit;
    const Ticks on_cpu = thread.cpu.on_cpu(stretch, cpu_clock_use, thread_cpu_time);
    thread.off_in_work += stretch - on_cpu;
    thread.last_exit = entry;  // in case an exception or a jump leaves the call
    std::uint64_t work = work_of(on_cpu);
    if (__builtin_expect(thread.polling.is_unsettled(), 0)) work -= settle_polls(thread, stretch, on_cpu, work);
    if (counter.kind() != Counter::Kind::none) thread.work += work;
  }
  /// Moves the time of the polls from the stretch to MPI. Time off the CPU hits polls and work in proportion. Returns
  /// the part of `work` that the polls did.
  [[gnu::noinline]] std::uint64_t settle_polls(ThreadState& thread, Ticks stretch, Ticks on_cpu,
                                               std::uint64_t work) const {
    const Polling::Sums polls = thread.polling.settle();
    const auto on = static_cast<double>(on_cpu.count);
    const double share = polls.time < on ? polls.time / on : 1.0;
    thread.times[static_cast<std::size_t>(TimeKind::point_to_point)] +=
        Ticks{static_cast<std::uint64_t>(share * static_cast<double>(stretch.count))};
    const double done = counts_events() ? polls.events : share * on;
    return static_cast<std::uint64_t>(std::min(done, static_cast<double>(work)));
  }
};

}  // namespace halcyon
