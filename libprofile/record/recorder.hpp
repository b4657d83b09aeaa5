// The recorder of this process: its parts, and what happens at each boundary.
#pragma once

#include <cerrno>
#include <string>

#include "libprofile/record/boundaries.hpp"
#include "libprofile/record/change_gate.hpp"
#include "libprofile/record/meters.hpp"
#include "libprofile/record/open_segment.hpp"
#include "libprofile/record/python.hpp"
#include "libprofile/record/records.hpp"
#include "libprofile/record/requests.hpp"
#include "libprofile/record/pickled_reductions.hpp"
#include "libprofile/record/surroundings.hpp"
#include "libprofile/record/this_run.hpp"
#include "libprofile/record/threads.hpp"

namespace halcyon {

/// What calls have begun and others end. `lock` is taken where several threads call MPI at once.
struct CallsInFlight {
  SpinLock lock;
  RequestTable requests;
  PickledComms pickled_comms;
};

/// Each part has its own invariant and knows no other; what needs several of them is a function of this class.
class Recorder {
 public:
  Meters meters;
  Threads threads;
  ThisRun run;
  Boundaries boundaries;
  CallsInFlight calls;
  Python python;
  Surroundings surroundings;
  Records records;
  ChangeGate gate;

  /// Opens the first segment in the calling thread, which has returned from MPI_Init, and begins to record. The machine
  /// is measured before. Throws where memory ends.
  void begin();

  /// Ends the open segment at `end`; `wait` is how long the boundary operation took on this rank. Nothing where another
  /// thread has ended the recording meanwhile.
  void close_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait);

  /// As of the last boundary. Async-signal-safe.
  RankFigures figures() const;

  /// Async-signal-safe, but not while a thread closes a segment.
  bool spill(PartEnd end) { return records.spill(end, figures()); }

 private:
  void record_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait);
  void spill_by_the_clock();

  OpenSegment open_;
  Ticks boundary_cost_;  // of recording one, smallest seen
  Ticks next_spill_;     // 0 until the part has its place
};

/// Null until MPI_Init is called; valid while `recording`.
extern Recorder* recorder;

/// One line on standard error; a rank has one in a run, further ones are dropped.
void complain(const std::string& message);

inline ThreadState& current_thread() {
  return __builtin_expect(this_thread != nullptr, 1) ? *this_thread
                                                     : recorder->threads.enter(recorder->meters.clock.now());
}

/// The recorder's own work must not be taken for the application's, and leaves errno as it was.
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
};

}  // namespace halcyon
