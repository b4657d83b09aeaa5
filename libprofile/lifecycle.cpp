#include "libprofile/lifecycle.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>

#include "libprofile/interpose/next.hpp"
#include "libprofile/interpose/spokesman.hpp"
#include "libprofile/record/exit_gate.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/record/settings.hpp"
#include "libprofile/record/signals.hpp"
#include "libprofile/reduce/reduce.hpp"

namespace halcyon {
namespace {

std::vector<int> all_threads() {
  std::vector<int> ids;
  if (DIR* directory = opendir("/proc/self/task"); directory != nullptr) {
    while (const dirent* entry = readdir(directory)) {
      if (const int id = std::atoi(entry->d_name); id > 0) ids.push_back(id);
    }
    closedir(directory);
  }
  return ids;
}

void stop_in_forked_child() {
  recording.store(false);
  recorder->unsaved.store(false);
}

// What two readings of the clock are apart at least: its step, or the cost of reading it.
Ticks resolution_of(const Clock& clock) {
  constexpr unsigned readings = 256;
  const Ticks began = clock.now();
  Ticks last = began;
  unsigned steps = 0;
  for (unsigned i = 0; i < readings; ++i) {
    const Ticks now = clock.now();
    if (now > last) ++steps;
    last = now;
  }
  return {(last - began).count / (steps > 0 ? steps : 1)};
}

// With several programs in a job, a preload of one of them only would leave the reduction at the end waiting for ever.
bool all_ranks_surely_record() {
  const char* programs = std::getenv("OMPI_NUM_APP_CTX");
  return programs == nullptr || std::atoi(programs) <= 1 || std::getenv("HALCYON_ALL_RANKS") != nullptr;
}

// With several programs in a job, rank 0 may be one of another program that does not record; the first rank of this
// program speaks then.
bool is_first_of_program(int rank) {
  const char* sizes = std::getenv("OMPI_APP_CTX_NUM_PROCS");  // of the programs, in order of rank
  long first = 0;
  for (char* rest = nullptr; sizes != nullptr && *sizes != '\0'; sizes = rest) {
    if (first == rank) return true;
    first += std::strtol(sizes, &rest, 10);
    if (rest == sizes) break;
  }
  return rank == 0;
}

}  // namespace

StartingRun::StartingRun() : threads_before_(all_threads()) {
  // Made before MPI_Init, so that the clock's scale is measured over a long enough time when it is first needed.
  if (recorder == nullptr) recorder = new Recorder;
}

void StartingRun::started() const noexcept try {
  if (recording.load()) return;  // another tool's MPI_Init calls ours once more
  std::vector<int> started = all_threads();
  std::erase_if(started, [this](int id) {
    return std::find(threads_before_.begin(), threads_before_.end(), id) != threads_before_.end();
  });
  recorder->mpi_threads = std::move(started);
  const NotRecorded guard;

  if (!mpi.load()) {
    if (is_spokesman()) complain(of_another_family("libhalcyon") + "; nothing is recorded");
    return;
  }
  Recorder& run = *recorder;
  mpi.Comm_rank(mpi.comm_world, &run.rank);
  mpi.Comm_size(mpi.comm_world, &run.ranks);
  int thread_level = MPI_THREAD_SINGLE;
  mpi.Query_thread(&thread_level);
  run.several_threads = thread_level == MPI_THREAD_MULTIPLE;

  MPI_Comm parent = mpi.comm_null;
  mpi.Comm_get_parent(&parent);
  const bool is_spawned = parent != mpi.comm_null;
  run.several_worlds.store(is_spawned);

  std::string complaint;
  run.settings = settings_from_environment(complaint);
  if (is_spawned) set_apart_from_parent(run.settings);
  run.counter.choose(run.settings.counter, complaint);
  run.python.find();
  run.injected_totals = reinterpret_cast<InjectedTotals>(dlsym(RTLD_DEFAULT, injected_totals_symbol));
  if (!all_ranks_surely_record()) {
    if (is_first_of_program(run.rank)) {
      complain(
          "several programs make up this job; nothing is recorded, as some may lack libhalcyon.so "
          "(start the job with `halcyon run`, or preload it into all and set HALCYON_ALL_RANKS=1)");
    }
    return;
  }
  if (!complaint.empty() && run.rank == 0) complain(complaint);

  constexpr std::size_t bytes_per_segment = 32;
  run.segments = std::make_unique<SegmentStore>(std::max<std::size_t>(run.settings.memory_bytes / bytes_per_segment, 1),
                                                run.injected_totals != nullptr, &run.part);
  const double ticks_per_nanosecond = 1.0 / run.scale.nanoseconds_per_tick();
  run.cpu_clock_use = CpuClockUse::at(ticks_per_nanosecond);
  // What a cache miss or an interrupt adds to a call is less.
  constexpr double noticeable_ns = 1000.0;
  run.noticeable_delay = {static_cast<std::uint64_t>(noticeable_ns * ticks_per_nanosecond)};
  run.clock_resolution = resolution_of(run.clock);
  run.background_before = run.measure_background();
  run.probes_before = run.measure_probes();
  clock_gettime(CLOCK_REALTIME, &run.start_time);
  run.process = getpid();
  pthread_atfork(nullptr, nullptr, stop_in_forked_child);
  ThreadState& thread = current_thread();
  run.evidence_at_start = system_totals();
  run.open_first_segment(thread);
  run.unsaved.store(true);
  recording.store(true);
  catch_signals();
} catch (const std::exception& error) {
  complain(std::string("nothing is recorded: ") + error.what());
}

void end_recording() noexcept try {
  if (!recording.load() || getpid() != recorder->process) return;
  const NotRecorded guard;
  ThreadState& thread = current_thread();
  const Ticks now = recorder->clock.now();
  recorder->end_computation(thread, now);
  recorder->close_segment(thread, Boundary::finalize, nullptr, now, {});
  {
    // Merging the ranks may take long after a long run, and may be ended by a time limit, or by another rank, too.
    const Change change(*recorder, thread);
    if (is_being_left() || !recorder->unsaved.load()) return;
    recording.store(false);
    recorder->look_at_system();
    if (recorder->part.is_open()) recorder->spill(part_is_running);
  }
  recorder->background_after = recorder->measure_background();
  recorder->probes_after = recorder->measure_probes();
  reduce_and_write(*recorder);
  recorder->unsaved.store(false);
  release_signals();
  recorder->counter.stop();
} catch (const std::exception& error) {
  complain(std::string("no profile is written: ") + error.what());
}

void session_begins() noexcept { note_session(); }

void abort_recording() noexcept try {
  if (!has_to_keep()) return;
  const NotRecorded guard;
  leave(part_was_aborted, LastLook::taken);
} catch (const std::exception&) {  // the program is about to end, and has its own to say
}

}  // namespace halcyon
