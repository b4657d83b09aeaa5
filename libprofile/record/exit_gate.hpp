// Where a program ends without MPI_Finalize: what is recorded is kept before it does, once, whoever comes first.
#pragma once

#include <cerrno>

#include "libprofile/record/recorder.hpp"

namespace halcyon {

/// Internal work must not be taken for the application's.
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

/// Not in a child of vfork, which shares all memory.
bool is_the_recorded_process();
/// Whether there is anything recorded that no file has.
bool has_to_keep();

/// At what the operating system has seen of the run, which in a signal's handler cannot be had.
enum class LastLook : bool { taken, not_taken };

/// What is recorded is spilled, once: who comes later finds nothing to do, and waits. Whoever ends one rank often ends
/// all, and one by a second signal: it must not come between. Another thread may be closing a segment, or about to: it
/// finishes that one, and closes no other (Change). Async-signal-safe, but for a last look at the system.
void leave(PartEnd end, LastLook look);

/// A program of MPI sessions alone is told at its end that it was not recorded.
void note_session();

}  // namespace halcyon
