// The threads of the application, and the sums of each.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/format/time_kinds.hpp"
#include "libprofile/interpose/outermost_call.hpp"
#include "libprofile/record/cpu_account.hpp"
#include "libprofile/record/cpu_wait.hpp"
#include "libprofile/record/gathering.hpp"
#include "libprofile/record/polling.hpp"
#include "libprofile/record/usual_times.hpp"
#include "libprofile/shared/clock.hpp"
#include "libprofile/shared/counter.hpp"

namespace halcyon {

class Steps;

/// Of the measured regions of OpenMP that a thread has begun: sums in ticks.
struct TeamTimes {
  std::uint64_t own = 0;           // their durations
  std::uint64_t of_threads = 0;    // each times its threads
  std::uint64_t work = 0;          // of all threads
  std::uint64_t longest_work = 0;  // of the thread that had most, times the threads

  TeamTimes& operator+=(const TeamTimes& other);
};

/// The sums of one thread of the application. Only that thread writes them; the thread that closes a segment reads
/// them. Sums are never reset. Boundaries use their differences, so that no thread writes another's sums.
struct alignas(64) ThreadState {
  OutermostCall outermost;
  Polling polling;              // in the same cache line: of the thread, a poll needs no more
  bool is_application = false;  // its file I/O counts
  const void* fortran_site = nullptr;
  Gathering gathering;
  std::uintptr_t boundary_comm = 0;  // the communicator of its last boundary, or 0

  std::array<std::atomic<std::uint64_t>, feature_count> counts{};
  std::array<Ticks, time_kind_count> times{};
  UsualTimes* usual_times = nullptr;   // only in a thread that ends segments, or did so; kept for the next one
  Ticks beyond_usual;                  // sum over all its calls
  Steps* steps = nullptr;              // only in the thread whose steps are looked for
  std::uint64_t given_to_devices = 0;  // work items and bytes, not yet waited for

  // The compute feature: ticks on the CPU, or events, outside MPI and file I/O.
  std::uint64_t work = 0;
  std::uint64_t in_regions = 0;       // of that, in regions of OpenMP, by the threads of the team (record/team.hpp)
  std::uint64_t spun_in_regions = 0;  // perhaps, by threads that waited for others there
  Ticks in_blind_regions;             // time in those of which nothing is known
  TeamTimes teams;
  Ticks off_in_work;  // the CPU, in stretches of computation
  CpuAccount cpu;
  CpuWaitOfThread cpu_wait;  // only of a thread that ends segments
  Ticks last_exit;
  EventsOfThread events;
  std::uint64_t events_began = 0;  // the stretch of computation, by PapiCounter::begin_stretch()

  // Features count what threads do that end segments. A thread that ends none may act by the clock, such as one that
  // writes a log: then each segment would have counts of its own, and a longer one others than a shorter one.
  std::atomic<bool> ends_segments{false};
  // The parts of `counts` by earlier threads that had this state: of those that ended segments, and of the others.
  std::array<std::atomic<std::uint64_t>, feature_count> in_features{};
  std::array<std::atomic<std::uint64_t>, feature_count> not_in_features{};

  /// Sums at the last boundary at which this thread ended a segment, or when it entered.
  struct AtBoundary {
    Ticks time;
    std::array<Ticks, time_kind_count> times{};
    std::uint64_t work = 0;
    std::uint64_t in_regions = 0;
    std::uint64_t spun_in_regions = 0;
    Ticks in_blind_regions;
    Ticks off_cpu;
    Ticks beyond_usual;
  };
  AtBoundary at_boundary;
  AtBoundary sums(Ticks time) const {
    return {time, times, work, in_regions, spun_in_regions, in_blind_regions, cpu.off(), beyond_usual};
  }

  void* signal_stack = nullptr;  // stays when the thread ends, for the next one
  std::atomic<int> owner{0};     // the kernel's number of the thread; 0 before the first one

  /// The program leaves the calls that the thread is in without returning from them.
  void leave_calls() {
    outermost.leave();
    fortran_site = nullptr;
  }
  void add(Feature feature, std::uint64_t amount) {
    auto& sum = counts[index_of(feature)];
    sum.store(sum.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

/// Destructors of other libraries may make calls when this library's have run.
static_assert(std::is_trivially_destructible_v<ThreadState>);

/// The state of the calling thread; null until it enters. Without constinit, every use would first check whether it is
/// initialized.
extern constinit thread_local ThreadState* this_thread __attribute__((tls_model("initial-exec")));

/// The states of all threads that have called in. The counts of a thread that has ended stay with the run: a new thread
/// takes over its state. So a program that starts new threads at every step has at most twice as many states as threads
/// at a time.
class Threads {
 public:
  static constexpr std::uint32_t most = 4096;

  /// Threads that MPI_Init has started: their file I/O is not the application's.
  void set_apart(std::vector<int> mpi_threads) { mpi_threads_ = std::move(mpi_threads); }

  /// Gives a state to the calling thread, which must have none. If `most` threads have one, the thread's calls are not
  /// recorded; nor are those of a child of vfork, which has the thread-local variables of its parent's thread.
  /// Async-signal-safe: the first call of a thread may be a write() in a signal handler.
  ThreadState& enter(Ticks now);

  /// Whether some thread has left a call in a way that was noticed late.
  bool has_given_up_calls() const;
  /// Whether calls of some thread were not recorded.
  bool has_left_out_threads() const { return has_left_out_.load(std::memory_order_relaxed); }

  /// `visit(feature, sum)`: each count, summed over all threads that have ended a segment. `visit_others(feature,
  /// sum)`: over the others, if there are any.
  template <class Visit, class VisitOthers>
  void for_each_count(Visit visit, VisitOthers visit_others) const {
    const std::uint32_t used = used_.load(std::memory_order_acquire);
    if (__builtin_expect(used == 1 && ends_segments(state(0)), 1)) {  // no other thread has had this state
      for (std::size_t feature = 0; feature < feature_count; ++feature) {
        visit(feature, state(0).counts[feature].load(std::memory_order_relaxed));
      }
      return;
    }
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      std::uint64_t sum = 0;
      std::uint64_t in_features = 0;
      for (std::uint32_t i = 0; i < used; ++i) {
        const std::uint64_t of_thread = state(i).counts[feature].load(std::memory_order_relaxed);
        sum += of_thread;
        in_features += in_features_of(state(i), feature, of_thread);
      }
      visit(feature, in_features);
      visit_others(feature, sum - in_features);
    }
  }

  /// Over all threads. Not while one of them begins a region.
  TeamTimes times_of_teams() const;

  /// Those that were set apart.
  std::span<const int> mpi_threads() const { return mpi_threads_; }

 private:
  static ThreadState& state(std::uint32_t index);
  static bool ends_segments(const ThreadState& thread) { return thread.ends_segments.load(std::memory_order_relaxed); }
  static std::uint64_t in_features_of(const ThreadState& thread, std::size_t feature, std::uint64_t sum) {
    return ends_segments(thread) ? sum - thread.not_in_features[feature].load(std::memory_order_relaxed)
                                 : thread.in_features[feature].load(std::memory_order_relaxed);
  }
  static void begin_anew(ThreadState& thread, Ticks now);
  ThreadState* claim(int thread);
  ThreadState* take_over(int thread);

  std::atomic<std::uint32_t> used_{0};       // states that a thread has or had
  std::atomic<std::uint32_t> enough_{8};     // so many states are used before those of ended threads are
  std::atomic<std::uint32_t> next_look_{0};  // where to look for the state of an ended thread
  std::atomic<bool> has_left_out_{false};
  std::vector<int> mpi_threads_;
  const pid_t process_ = getpid();
};

}  // namespace halcyon
