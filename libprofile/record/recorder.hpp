// The recorder's single state, and what happens at the start, at each boundary and at the end of a run.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/interpose/call_class.hpp"
#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/interpose/outermost_call.hpp"
#include "libprofile/record/background.hpp"
#include "libprofile/record/call_site.hpp"
#include "libprofile/record/clock.hpp"
#include "libprofile/record/counter.hpp"
#include "libprofile/record/cpu_account.hpp"
#include "libprofile/record/facts.hpp"
#include "libprofile/record/part_file.hpp"
#include "libprofile/record/probes.hpp"
#include "libprofile/record/python.hpp"
#include "libprofile/record/requests.hpp"
#include "libprofile/record/rooted_pairs.hpp"
#include "libprofile/record/segment_store.hpp"
#include "libprofile/record/system_totals.hpp"
#include "libprofile/record/tail.hpp"
#include "libprofile/record/usual_times.hpp"

namespace halcyon {

/// What one thread of the application has done so far. Only its own thread writes it; the thread that closes a segment
/// reads it. Sums grow for ever and are differenced at boundaries, so that nobody resets what another thread adds to.
struct alignas(64) ThreadState {
  OutermostCall outermost;
  bool is_application = false;  // may do file I/O that counts
  const void* fortran_site = nullptr;
  Gathering gathering;

  std::array<std::atomic<std::uint64_t>, feature_count> counts{};
  std::array<Ticks, time_kind_count> times{};
  std::unique_ptr<UsualTimes> usual_times;  // of a thread that ends segments
  Ticks beyond_usual;                       // of all its calls

  // The compute feature: ticks on the CPU, or events, outside MPI and file I/O.
  std::uint64_t work = 0;
  CpuAccount cpu;
  Ticks last_exit;
  std::uint64_t events_at_exit = 0;

  ThreadState* next_free = nullptr;  // among those whose thread has ended

  void add(Feature feature, std::uint64_t amount) {
    auto& sum = counts[index_of(feature)];
    sum.store(sum.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

struct Settings {
  std::string output;
  std::string command;
  std::string receipt;  // a file to be told the profile's name, for `halcyon run`; may be empty
  CounterRequest counter;
  BoundaryChoice boundary = BoundaryChoice::automatic;
  int boundary_ranks = 0;  // 0: as many as the world has
  std::size_t memory_bytes = std::size_t{512} << 20;
  double background_seconds = 0.0;            // spent on measuring it, half before and half after the run
  bool probes = true;                         // of the machine, just before and just after the run
  int spill_seconds = default_spill_seconds;  // between two spills; 0: only when the run dies, or memory ends
};

class SpinLock {
 public:
  void lock() {
    // Where threads outnumber cores, who holds the lock may have to be let on to this one.
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

/// How intM, loaded beside the recorder, tells what it has added on this rank since it started: nanoseconds asked for
/// and nanoseconds spent. Exported by libintm.so under the name below.
using InjectedTotals = void (*)(std::uint64_t* requested, std::uint64_t* actual);
using InjectedSpec = const char* (*)();
inline constexpr const char* injected_totals_symbol = "intm_injected_totals";
inline constexpr const char* injected_spec_symbol = "intm_spec";

/// Answers a signal that the recorder has caught as it would have been answered without it. Async-signal-safe.
void answer(int signal);

/// Whether another thread ends the program, and spills what is recorded before.
bool is_being_left();
void wait_until_spilled();

class Recorder {
 public:
  Recorder();

  Clock clock;
  TickScale scale;
  pthread_key_t thread_end{};  // its destructor frees the state of a thread
  bool sees_threads_end = false;
  // By a first estimate of the clock's rate; the profile uses the run's own.
  CpuClockUse cpu_clock_use;
  Ticks noticeable_delay;  // of one call
  Settings settings;
  Counter counter;
  EvidenceValues evidence_at_start{};
  pid_t process = 0;  // that began to record
  int rank = 0;
  int ranks = 1;
  bool several_threads = false;  // MPI_THREAD_MULTIPLE
  // Spawned, or one that has spawned or met others: a communicator's size no longer says who is in it.
  std::atomic<bool> several_worlds{false};
  SpinLock lock;           // taken only then
  SpinLock register_lock;  // guards `threads` and `free_states`
  RequestTable requests;
  PickledComms pickled_comms;
  Python python;
  PartFile part;
  std::unique_ptr<SegmentStore> segments;
  std::vector<CallSite> sites;
  std::vector<Module> modules;  // that these are in
  std::vector<ThreadState*> threads;
  std::vector<int> mpi_threads;  // started by MPI_Init: what they read and write is not the application's
  ThreadState* free_states = nullptr;
  std::timespec start_time{};
  std::string last_line;  // for who watches a run that dies; empty where another tells it
  std::uint64_t boundary_kinds_hash = 0;
  Ticks boundary_cost;  // of recording one, smallest seen
  Ticks clock_resolution;
  FixedWork background_before;
  FixedWork background_after;
  ProbeTimes probes_before;
  ProbeTimes probes_after;
  InjectedTotals injected_totals = nullptr;  // null: intM is not loaded
  std::string injected_spec;

  /// Ends the open segment at `end`; `wait` is how long the boundary operation took on this rank. Nothing where another
  /// thread has ended the recording meanwhile.
  void close_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait);
  bool counts_as_boundary(MPI_Comm comm) const;
  /// Whether boundaries of this kind end segments. Marks are asked one by one: where the setting is auto, those that
  /// come while nothing else repeats end segments.
  bool uses(BoundaryChoice kind) const {
    return settings.boundary == kind ||
           (settings.boundary == BoundaryChoice::automatic && kind != BoundaryChoice::pcontrol);
  }
  bool uses_next_mark();
  /// All ranks have synchronised, or posted that they will: called in the same order on all of them.
  void note_synchronization() { synchronizations_.fetch_add(1, std::memory_order_relaxed); }
  /// The rank in the world of one of a communicator.
  int process_of(int rank_in_comm, MPI_Comm comm) const;
  /// From the first segment's start to the last boundary.
  Ticks elapsed() const { return segment_start_ - started_at_; }

  RunFacts facts() const;
  /// As of the last boundary. Async-signal-safe.
  RankFigures figures() const;
  /// Reads what figures() gives as evidence.
  void look_at_system();

  /// All that is recorded goes into the part file, which then says how the run ended, if it did. False where that
  /// fails. Async-signal-safe, but not while a thread closes a segment.
  bool spill(PartEnd end);
  /// The thread that changes what is recorded, if one does: closes a segment, or prepares for merging.
  std::atomic<const ThreadState*> changing{nullptr};
  /// A signal that came to that very thread, to be answered when it has changed it.
  std::atomic<int> postponed_signal{0};
  /// From the start until the profile is written, or what is recorded has been spilled for the last time.
  std::atomic<bool> unsaved{false};

  /// Half of the time that the settings give to it.
  FixedWork measure_background() const;
  /// Of nothing, where the settings want none.
  ProbeTimes measure_probes() const;

  /// Opens the first segment, in the thread that has returned from MPI_Init.
  void open_first_segment(ThreadState& thread);

  /// The two halves of the compute feature: a stretch of computation ends with a call at `entry`, and begins when the
  /// call returns at `exit`.
  void end_computation(ThreadState& thread, Ticks entry) const;
  void begin_computation(ThreadState& thread, Ticks entry, Ticks exit) const;

 private:
  void record_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait);
  void ends_segments(ThreadState& thread);
  void begin_segment(ThreadState& thread);
  void place_part();
  void spill_by_the_clock();
  std::uint8_t site_index(const void* address, Boundary boundary);

  Ticks started_at_;
  Ticks segment_start_;
  std::atomic<unsigned> synchronizations_{0};
  std::atomic<unsigned> marks_{0};
  std::array<std::uint64_t, feature_count> counted_{};  // up to the last boundary
  std::array<Ticks, time_kind_count> timed_{};
  std::uint64_t worked_ = 0;
  Ticks off_cpu_;
  Ticks beyond_usual_;
  const ThreadState* last_closing_ = nullptr;
  Ticks next_spill_;
  std::array<char, 256> host_{};
  std::array<char, most_cpu_text> cpu_{};
  EvidenceValues evidence_{};  // what has happened since the start, when it was last looked at
  std::unique_ptr<std::byte[]> tail_;
  bool has_receipt_ = false;
  std::uint64_t injected_requested_ = 0;
  std::uint64_t injected_actual_ = 0;
};

/// While what is recorded changes, nobody spills it: who is about to, waits for this one.
class Change {
 public:
  /// Both this and what follows it are sequentially consistent, as where recording ends from outside: who spills
  /// what there is, and says so before (is_being_left(), `recording`), either sees `changing` and waits, or is seen.
  Change(Recorder& run, const ThreadState& thread) : run_(run) { run_.changing.store(&thread); }
  ~Change() {
    run_.changing.store(nullptr, std::memory_order_release);
    const int signal = run_.postponed_signal.load(std::memory_order_relaxed);
    if (__builtin_expect(signal != 0, 0)) answer(signal);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  Recorder& run_;
};

inline std::uint64_t thread_cpu_time() { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

[[gnu::always_inline]] inline void Recorder::end_computation(ThreadState& thread, Ticks entry) const {
  const Ticks on_cpu = thread.cpu.on_cpu(entry - thread.last_exit, cpu_clock_use, thread_cpu_time);
  thread.last_exit = entry;  // for a call that is left without our knowing
  if (counter.kind() == Counter::Kind::cpu) {
    thread.work += on_cpu.count;
  } else if (counter.kind() == Counter::Kind::papi) {
    thread.work += counter.read_papi() - thread.events_at_exit;
  }
}

[[gnu::always_inline]] inline void Recorder::begin_computation(ThreadState& thread, Ticks entry, Ticks exit) const {
  thread.last_exit = exit;
  thread.cpu.on_cpu(exit - entry, cpu_clock_use, thread_cpu_time);
  if (counter.kind() == Counter::Kind::papi) thread.events_at_exit = counter.read_papi();
}

/// Set while the recorder counts; everything else stands aside while it is false.
extern std::atomic<bool> recording;
/// Valid while `recording`.
extern Recorder* recorder;

/// One line on standard error; a rank has one in a run, further ones are dropped.
void complain(const std::string& message);

/// constinit: without it, every use would first ask whether it has to be initialized.
extern constinit thread_local ThreadState* this_thread __attribute__((tls_model("initial-exec")));
ThreadState& register_thread();
inline ThreadState& current_thread() {
  return __builtin_expect(this_thread != nullptr, 1) ? *this_thread : register_thread();
}

}  // namespace halcyon
