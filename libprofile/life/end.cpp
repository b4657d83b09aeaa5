#include "libprofile/life/end.hpp"

#include <signal.h>
#include <unistd.h>

#include <exception>
#include <string>

#include "libprofile/interpose/signal_blocked.hpp"
#include "libprofile/life/exit_gate.hpp"
#include "libprofile/life/signals.hpp"
#include "libprofile/record/messages.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/reduce/reduce.hpp"

namespace halcyon {

namespace {

// Closes the last segment. False if the process was about to end, and has saved its records for the last time.
bool end_last_segment(Recorder& run, ThreadState& thread) {
  if (!recording.load()) return false;
  const Ticks now = run.meters.clock.now();
  run.meters.end_computation(thread, now);
  if (thread.steps != nullptr) run.steps.end(thread, now);
  run.close_segment(thread, Boundary::finalize, nullptr, now, {});
  // After a long run, merging may take long, and a time limit or another rank may end it. So the part is updated first.
  const Change change(run.gate, thread);
  if (!run.gate.has_unsaved()) return false;
  recording.store(false);
  run.place_part();
  run.spares.release();
  run.surroundings.look();
  if (run.records.is_spilled()) run.spill(part_is_running);
  return true;
}

}  // namespace

void end_recording() noexcept try {
  if (!is_the_recorded_process() || (!recording.load() && !recorder->gate.has_left())) return;
  const NotRecorded guard;
  const SignalBlocked no_death_by_quota(SIGXFSZ);  // MPI, too, may write files for what we ask of it, as MPICH 5 does
  Recorder& run = *recorder;
  ThreadState& thread = current_thread();
  const bool has_records = end_last_segment(run, thread);
  if (has_records) run.surroundings.measure_after(run.meters, run.run.settings);
  if (run.threads.has_left_out_threads()) {
    warn("the program had more than " + std::to_string(Threads::most) +
         " threads at a time: calls of some were not recorded");
  }
  reduce_and_write(run, has_records);
  run.run.leave_others();
  if (run.run.has_unrecorded_children.load()) {
    warn(
        "the processes that MPI_Comm_spawn started are not recorded: LD_PRELOAD, which Open MPI 5 does not pass on, "
        "does not fit into the 255 characters of an MPI_Info (docs/families.md)");
  }
  run.gate.note_saved();
  run.records.let_keeper_go();
  run.live.leave();
  run.spares.restore_limit();
  release_signals();
  PapiCounter::end(thread.events);
} catch (const std::exception& error) {
  tell_outcome("no profile is written", error.what());
}

void abort_recording() noexcept {
  if (has_to_keep()) leave(part_was_aborted);
}

}  // namespace halcyon
