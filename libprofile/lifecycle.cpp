#include "libprofile/lifecycle.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>

#include "libprofile/interpose/next.hpp"
#include "libprofile/interpose/spokesman.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/record/settings.hpp"
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

// Internal work must not be taken for the application's.
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

void stop_in_forked_child() {
  recording.store(false);
  recorder->unsaved.store(false);
}

// A child of vfork shares all memory.
bool is_the_recorded_process() { return recorder != nullptr && getpid() == recorder->process; }
bool has_to_keep() { return is_the_recorded_process() && recorder->unsaved.load(); }

std::atomic<int> leaving{0};  // threads

// At what the operating system has seen of the run, which in a signal's handler cannot be had.
enum class LastLook : bool { taken, not_taken };

// Until a flag that another thread holds is down; it may be that this thread is dead, so not for ever. False: it is up.
template <class IsUp>
bool wait_for(IsUp is_up) {
  constexpr int most_waits = 1000;
  for (int i = 0; i < most_waits && is_up(); ++i) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return !is_up();
}

// What is recorded is spilled, once: who comes later finds nothing to do, and waits. Whoever ends one rank often ends
// all, and one by a second signal: it must not come between. Another thread may be closing a segment, or about to: it
// finishes that one, and closes no other (Change). Async-signal-safe, but for a last look at the
// system.
void leave(PartEnd end, LastLook look) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  leaving.fetch_add(1);
  const auto changes = [] { return recorder->changing.load() != nullptr; };
  recording.store(false);
  if (wait_for(changes) && recorder->unsaved.exchange(false)) {
    if (look == LastLook::taken) recorder->look_at_system();
    if (recorder->spill(end)) {
      [[maybe_unused]] const ssize_t written =
          write(STDERR_FILENO, recorder->last_line.data(), recorder->last_line.size());
    }
  }
  leaving.fetch_sub(1);
  wait_for(is_being_left);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// -- signals that end a program: a batch system's time limit, a user, a fault

struct CaughtSignal {
  int number;
  bool is_caught = false;
  struct sigaction before {};
};
std::array caught_signals{CaughtSignal{SIGHUP},  CaughtSignal{SIGINT},  CaughtSignal{SIGQUIT}, CaughtSignal{SIGTERM},
                          CaughtSignal{SIGUSR1}, CaughtSignal{SIGUSR2}, CaughtSignal{SIGXCPU}, CaughtSignal{SIGALRM},
                          CaughtSignal{SIGILL},  CaughtSignal{SIGABRT}, CaughtSignal{SIGFPE},  CaughtSignal{SIGBUS},
                          CaughtSignal{SIGSEGV}};

// Open MPI prints where a fault was, and so does UCX below MPICH; they must still do so.
bool is_of_mpi(const struct sigaction& action) {
  Dl_info info{};
  if ((action.sa_flags & SA_SIGINFO) == 0 || dladdr(reinterpret_cast<void*>(action.sa_sigaction), &info) == 0 ||
      info.dli_fname == nullptr) {
    return false;
  }
  const std::string_view library = base_name(info.dli_fname);
  return library.starts_with("libopen-pal") || library.starts_with("libucs.so");
}

// A fault comes again by itself when its handler returns, with all that the next handler wants to know of it.
bool is_fault(int number, const siginfo_t& from) {
  return from.si_code > 0 && (number == SIGILL || number == SIGFPE || number == SIGBUS || number == SIGSEGV);
}

void restore(const CaughtSignal& caught) { sigaction(caught.number, &caught.before, nullptr); }

void on_signal(int number, siginfo_t* from, void*) {
  const int saved_errno = errno;
  if (is_the_recorded_process() && !is_fault(number, *from)) {
    const ThreadState* changing = recorder->changing.load(std::memory_order_acquire);
    if (changing != nullptr && changing == this_thread) {  // only it can finish this
      recorder->postponed_signal.store(number);
      errno = saved_errno;
      return;
    }
  }
  if (has_to_keep()) {
    leave(static_cast<PartEnd>(number), LastLook::not_taken);
  } else {
    wait_for(is_being_left);
  }
  errno = saved_errno;
  for (const CaughtSignal& caught : caught_signals) {
    if (caught.number == number) restore(caught);
  }
  if (!is_fault(number, *from)) raise(number);
}

void catch_signals() {
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (CaughtSignal& caught : caught_signals) {
    if (sigaction(caught.number, nullptr, &caught.before) != 0) continue;
    // What the program answers by itself, or ignores, is the program's.
    const bool is_default = (caught.before.sa_flags & SA_SIGINFO) == 0 && caught.before.sa_handler == SIG_DFL;
    if (is_default || is_of_mpi(caught.before)) {
      caught.is_caught = sigaction(caught.number, &ours, nullptr) == 0;
    }
  }
}

void release_signals() {
  for (CaughtSignal& caught : caught_signals) {
    struct sigaction now {};
    if (!caught.is_caught || sigaction(caught.number, nullptr, &now) != 0) continue;
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal) restore(caught);
    caught.is_caught = false;
  }
}

std::atomic<pid_t> uses_sessions{0};  // this process, where it does

// Runs at exit; only speaks if this very process should have a profile, and never reached MPI_Finalize.
[[gnu::destructor]] void report_missing_finalize() {
  if (recorder == nullptr && uses_sessions.load() == getpid() && is_spokesman()) {
    complain("a program of MPI sessions alone, without MPI_Init, is not recorded: no profile is written");
  }
  if (!has_to_keep()) return;
  const NotRecorded guard;
  leave(part_has_exited, LastLook::taken);
  if (recorder->rank == 0 && !recorder->part.is_open()) {
    complain("the program ended without MPI_Finalize: no profile is written (" + recorder->settings.command + ")");
  }
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

bool is_being_left() { return leaving.load() != 0; }
void wait_until_spilled() { wait_for(is_being_left); }

void answer(int signal) {
  leave(static_cast<PartEnd>(signal), LastLook::not_taken);
  for (const CaughtSignal& caught : caught_signals) {
    if (caught.number == signal) restore(caught);
  }
  raise(signal);
}

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

void session_begins() noexcept { uses_sessions.store(getpid()); }

void abort_recording() noexcept try {
  if (!has_to_keep()) return;
  const NotRecorded guard;
  leave(part_was_aborted, LastLook::taken);
} catch (const std::exception&) {  // the program is about to end, and has its own to say
}

}  // namespace halcyon
