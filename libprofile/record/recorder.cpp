#include "libprofile/record/recorder.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "libprofile/interpose/next.hpp"
#include "libprofile/interpose/spokesman.hpp"
#include "libprofile/record/settings.hpp"
#include "libprofile/reduce/reduce.hpp"

namespace halcyon {

std::atomic<bool> recording{false};
Recorder* recorder = nullptr;
thread_local ThreadState* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

// Threads that MPI_Init started. They are MPI's: what they read and write is not the application's.
std::vector<int>* mpi_threads = nullptr;
std::atomic<bool> has_complained{false};

int thread_id() { return static_cast<int>(syscall(SYS_gettid)); }

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
  NotRecorded() : thread_(current_thread()), depth_(thread_.depth), errno_(errno) { thread_.depth = 1; }
  ~NotRecorded() {
    thread_.depth = depth_;
    errno = errno_;
  }
  NotRecorded(const NotRecorded&) = delete;
  NotRecorded& operator=(const NotRecorded&) = delete;

 private:
  ThreadState& thread_;
  int depth_;
  int errno_;
};

// The counts of a thread that has ended still belong to the run: its state goes on under the next thread that begins,
// so that a program with new threads at every step has only as many states as threads at a time.
void release_thread(void* argument) {
  auto* state = static_cast<ThreadState*>(argument);
  this_thread = nullptr;
  recorder->register_lock.lock();
  state->next_free = recorder->free_states;
  recorder->free_states = state;
  recorder->register_lock.unlock();
}

void stop_in_forked_child() { recording.store(false); }

// Runs at exit; only speaks if this very process began to record and never reached MPI_Finalize.
[[gnu::destructor]] void report_missing_finalize() {
  if (!recording.load() || getpid() != recorder->process) return;
  recording.store(false);
  if (recorder->rank == 0) {
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

void complain(const std::string& message) {
  if (has_complained.exchange(true)) return;
  const std::string line = "halcyon: " + message + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

ThreadState& register_thread() {
  Recorder& run = *recorder;
  // Threads register while others close segments, whatever level MPI was asked for.
  run.register_lock.lock();
  ThreadState* state = run.free_states;
  if (state != nullptr) {
    run.free_states = state->next_free;
  } else {
    state = new ThreadState;
    run.threads.push_back(state);
  }
  run.register_lock.unlock();
  state->depth = 0;
  state->is_application =
      mpi_threads == nullptr || std::find(mpi_threads->begin(), mpi_threads->end(), thread_id()) == mpi_threads->end();
  state->last_exit = run.clock.now();
  state->cpu.restart(thread_cpu_time());
  this_thread = state;
  if (run.sees_threads_end) pthread_setspecific(run.thread_end, state);
  return *state;
}

Recorder::Recorder() : scale(clock), sees_threads_end(pthread_key_create(&thread_end, release_thread) == 0) {}

// Where memory fails, calls are not compared: the profile says less, the program goes on.
void Recorder::ends_segments(ThreadState& thread) {
  closing_thread_ = &thread;
  if (thread.usual_times == nullptr) thread.usual_times.reset(new (std::nothrow) UsualTimes);
}

void Recorder::open_first_segment(ThreadState& thread) {
  if (std::find(threads.begin(), threads.end(), &thread) == threads.end()) threads.push_back(&thread);
  ends_segments(thread);
  started_at_ = clock.now();
  segment_start_ = started_at_;
  thread.last_exit = started_at_;
  thread.cpu.restart(thread_cpu_time());
  if (counter.kind() == Counter::Kind::papi) thread.events_at_exit = counter.read_papi();
  if (injected_totals != nullptr) injected_totals(&injected_requested_, &injected_actual_);
}

FixedWork Recorder::measure_background() const {
  const double ticks = 0.5 * settings.background_seconds * 1e9 / scale.nanoseconds_per_tick();
  return measure_fixed_work(clock, {static_cast<std::uint64_t>(ticks)});
}

bool Recorder::counts_as_boundary(MPI_Comm comm) const {
  int size = 0;
  int inter = 0;
  mpi.Comm_size(comm, &size);
  if (size < (settings.boundary_ranks > 0 ? settings.boundary_ranks : ranks)) return false;
  mpi.Comm_test_inter(comm, &inter);
  return inter == 0;
}

std::uint64_t Recorder::total(Feature feature) const {
  std::uint64_t sum = 0;
  for (const ThreadState* thread : threads) sum += thread->counts[index_of(feature)].load(std::memory_order_relaxed);
  return sum;
}

std::uint8_t Recorder::site_index(const void* address, Boundary boundary) {
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (sites[i].address == address && sites[i].boundary == boundary) return static_cast<std::uint8_t>(i);
  }
  if (sites.size() == 255) return 254;  // from here on, sites share the last place
  CallSite site{address, boundary, {}, 0};
  Dl_info info{};
  // The module is looked up now, since it may be gone at the end; the address is a return address, hence in the module.
  if (address != nullptr && dladdr(address, &info) != 0 && info.dli_fname != nullptr) {
    site.module = base_name(info.dli_fname);
    site.offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  }
  sites.push_back(std::move(site));
  return static_cast<std::uint8_t>(sites.size() - 1);
}

void Recorder::close_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait) {
  const int saved_errno = errno;
  const Ticks began = clock.now();
  if (segment_start_ > end) end = segment_start_;  // another thread's boundary, that ended later, was noted first
  SegmentRow row;
  row.duration = end - segment_start_;
  row.site = site_index(site, boundary);
  register_lock.lock();
  for (std::size_t feature = 1; feature < feature_count; ++feature) {
    std::uint64_t sum = 0;
    for (const ThreadState* state : threads) sum += state->counts[feature].load(std::memory_order_relaxed);
    row.features[feature] = static_cast<double>(sum - counted_[feature]);
    counted_[feature] = sum;
  }
  register_lock.unlock();
  // Times and work are of the thread that meets the other ranks: the sum over threads may exceed the duration.
  if (&thread != closing_thread_) {
    ends_segments(thread);
    timed_ = thread.times;
    worked_ = thread.work;
    off_cpu_ = thread.cpu.off();
    beyond_usual_ = thread.beyond_usual;
  }
  row.features[index_of(Feature::compute)] = static_cast<double>(thread.work - worked_);
  worked_ = thread.work;
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    row.times[kind] = thread.times[kind] - timed_[kind];
    timed_[kind] = thread.times[kind];
  }
  row.times[static_cast<std::size_t>(TimeKind::boundary)] = wait;
  row.off_cpu = thread.cpu.off() - off_cpu_;
  off_cpu_ = thread.cpu.off();
  row.beyond_usual = thread.beyond_usual - beyond_usual_;
  beyond_usual_ = thread.beyond_usual;
  if (thread.usual_times != nullptr) thread.usual_times->segment_begins();
  if (injected_totals != nullptr) {
    std::uint64_t requested = 0;
    std::uint64_t actual = 0;
    injected_totals(&requested, &actual);
    row.injected_requested = static_cast<float>(requested - injected_requested_);
    row.injected_actual = static_cast<float>(actual - injected_actual_);
    injected_requested_ = requested;
    injected_actual_ = actual;
  }
  segments->push(row);
  boundary_kinds_hash = (boundary_kinds_hash ^ static_cast<std::uint64_t>(boundary)) * 0x100000001b3u;
  segment_start_ = end;
  const Ticks cost = clock.now() - began;
  if (boundary_cost.count == 0 || boundary_cost > cost) boundary_cost = cost;
  errno = saved_errno;
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
  mpi_threads = new std::vector<int>(std::move(started));
  const NotRecorded guard;

  if (!mpi.load()) {
    if (is_spokesman())
      complain("this MPI library is not the Open MPI that libhalcyon.so was built for; nothing is recorded");
    return;
  }
  Recorder& run = *recorder;
  mpi.Comm_rank(mpi.comm_world, &run.rank);
  mpi.Comm_size(mpi.comm_world, &run.ranks);
  int thread_level = MPI_THREAD_SINGLE;
  mpi.Query_thread(&thread_level);
  run.several_threads = thread_level == MPI_THREAD_MULTIPLE;

  std::string complaint;
  run.settings = settings_from_environment(complaint);
  run.counter.choose(run.settings.counter, complaint);
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
                                                run.injected_totals != nullptr);
  const double ticks_per_nanosecond = 1.0 / run.scale.nanoseconds_per_tick();
  run.cpu_clock_use = CpuClockUse::at(ticks_per_nanosecond);
  // What a cache miss or an interrupt adds to a call is less.
  constexpr double noticeable_ns = 1000.0;
  run.noticeable_delay = {static_cast<std::uint64_t>(noticeable_ns * ticks_per_nanosecond)};
  run.clock_resolution = resolution_of(run.clock);
  run.background_before = run.measure_background();
  clock_gettime(CLOCK_REALTIME, &run.start_time);
  run.process = getpid();
  pthread_atfork(nullptr, nullptr, stop_in_forked_child);
  ThreadState& thread = current_thread();
  run.evidence = system_totals();
  run.open_first_segment(thread);
  recording.store(true);
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
  recording.store(false);
  const EvidenceValues at_end = system_totals();
  for (std::size_t i = 0; i < evidence_count; ++i) {
    // NaN stays NaN; clocks that do not run quite alike make nothing negative.
    recorder->evidence[i] = std::max(at_end[i] - recorder->evidence[i], 0.0);
  }
  recorder->background_after = recorder->measure_background();
  // Asked for now: an intM in front of the recorder reads its SPECs after the recorder has started.
  if (const auto spec = reinterpret_cast<InjectedSpec>(dlsym(RTLD_DEFAULT, injected_spec_symbol))) {
    recorder->injected_spec = spec();
  }
  reduce_and_write(*recorder);
  recorder->counter.stop();
} catch (const std::exception& error) {
  complain(std::string("no profile is written: ") + error.what());
}

}  // namespace halcyon
