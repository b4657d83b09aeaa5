// The recorder of this process: its parts, and what happens at each boundary.
#pragma once

#include <cerrno>
#include <optional>
#include <string>

#include "libprofile/format/boundary.hpp"
#include "libprofile/live/writer.hpp"
#include "libprofile/record/boundaries.hpp"
#include "libprofile/record/busy_threads.hpp"
#include "libprofile/record/change_gate.hpp"
#include "libprofile/record/messages.hpp"
#include "libprofile/record/meters.hpp"
#include "libprofile/record/open_segment.hpp"
#include "libprofile/record/pickled_reductions.hpp"
#include "libprofile/record/python.hpp"
#include "libprofile/record/records.hpp"
#include "libprofile/record/requests.hpp"
#include "libprofile/record/spin_lock.hpp"
#include "libprofile/record/steps.hpp"
#include "libprofile/record/surroundings.hpp"
#include "libprofile/record/this_run.hpp"
#include "libprofile/record/threads.hpp"
#include "libprofile/system/own_descriptor.hpp"
#include "libprofile/system/own_floating_point.hpp"
#include "libprofile/system/process_memory.hpp"

namespace halcyon {

/// Operations that one call begins and another ends. `lock` is taken if several threads may call MPI at once. It is
/// held for a few instructions, in which no other lock is taken, and never in a function that is async-signal-safe.
struct CallsInFlight {
  SpinLock lock;
  RequestTable requests;
  PickledComms pickled_comms;
};

/// Each part has its own invariant and does not know the others; functions of this class work on several of them.
class Recorder {
 public:
  Meters meters;
  Threads threads;
  ThisRun run;
  Boundaries boundaries;
  Steps steps;
  CallsInFlight calls;
  Python python;
  Surroundings surroundings;
  Records records;
  live::Writer live;
  SpareDescriptors spares;  // for what is read and written at the end
  ChangeGate gate;

  /// Measures the machine, opens the first segment in the calling thread, which has returned from MPI_Init, and begins
  /// to record. Throws if memory runs out.
  void begin();

  /// Ends the open segment at `end`; `wait` is the time of the boundary operation on this rank. Does nothing if another
  /// thread has ended recording meanwhile. Throws nothing, but a cancelled thread may be unwound while it spills.
  void close_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait);

  /// A call of the thread whose steps are looked for is one of those that may end a step. It took from `entry` to
  /// `exit`.
  [[gnu::noinline]] void look_for_step(ThreadState& thread, const void* site, Ticks entry, Ticks exit) noexcept;

  /// A regulator wants the program to stop here, after a boundary. The time until it continues is not part of any
  /// segment. Called without locks, and not within a Change: signals are answered at once.
  void stand_still(ThreadState& thread) noexcept;

  /// Where the part will be, and what is the same in all of it. Does nothing the second time.
  void place_part();

  /// This rank's figures at the last boundary. Async-signal-safe.
  RankFigures figures() const;

  /// Async-signal-safe, but not while a thread closes a segment.
  bool spill(PartEnd end) { return records.spill(end, figures()); }

 private:
  // Time in which a regulator had suspended the program.
  struct Suspended {
    Ticks time;
    std::uint64_t times = 0;
    Ticks end;  // of the last one
  };

  void record_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait);
  void measure_others(const ThreadState& thread, SegmentRow& row);
  void spill_by_the_clock();
  void leave_word_of_run(ThreadState& thread);
  void publish(const SegmentRow& row, Ticks end);

  OpenSegment open_;
  BusyThreads busy_;
  Ticks boundary_cost_;  // smallest time seen for recording a boundary
  Ticks next_spill_;
  bool is_part_placed_ = false;
  std::optional<StackOfThread> stack_of_first_thread_;  // if that has called MPI_Init
  Ticks next_live_;
  Ticks live_interval_;
  Suspended suspended_;
};

/// Null until MPI_Init is called; valid while `recording`.
extern Recorder* recorder;

inline ThreadState& current_thread() {
  return __builtin_expect(this_thread != nullptr, 1) ? *this_thread
                                                     : recorder->threads.enter(recorder->meters.clock.now());
}

/// Guards the recorder's own work: its calls are not recorded as the application's, and errno and the floating-point
/// environment are restored.
class NotRecorded {
 public:
  NotRecorded() : thread_(current_thread()), outermost_(thread_.outermost), errno_(errno) {
    thread_.outermost.begin_own_work();
  }
  ~NotRecorded() {
    thread_.outermost = outermost_;
    errno = errno_;
  }
  NotRecorded(const NotRecorded&) = delete;
  NotRecorded& operator=(const NotRecorded&) = delete;

 private:
  ThreadState& thread_;
  OutermostCall outermost_;
  int errno_;
  OwnFloatingPoint floating_point_;
};

}  // namespace halcyon
