// The threads of the application, and the sums of each.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/format/time_kinds.hpp"
#include "libprofile/interpose/outermost_call.hpp"
#include "libprofile/record/cpu_account.hpp"
#include "libprofile/record/gathering.hpp"
#include "libprofile/record/spin_lock.hpp"
#include "libprofile/record/usual_times.hpp"
#include "libprofile/shared/clock.hpp"

namespace halcyon {

class Threads;

/// The sums of one thread of the application. Only that thread writes them; the thread that closes a segment reads
/// them. Sums are never reset. Boundaries use their differences, so that no thread writes another's sums.
struct alignas(64) ThreadState {
  OutermostCall outermost;
  bool is_application = false;  // its file I/O counts
  const void* fortran_site = nullptr;
  Gathering gathering;

  std::array<std::atomic<std::uint64_t>, feature_count> counts{};
  std::array<Ticks, time_kind_count> times{};
  std::unique_ptr<UsualTimes> usual_times;  // only in a thread that ends segments
  Ticks beyond_usual;                       // sum over all its calls

  // The compute feature: ticks on the CPU, or events, outside MPI and file I/O.
  std::uint64_t work = 0;
  CpuAccount cpu;
  Ticks last_exit;
  std::uint64_t events_at_exit = 0;

  Threads* registry = nullptr;
  ThreadState* next_free = nullptr;  // in the list of states whose thread has ended

  void add(Feature feature, std::uint64_t amount) {
    auto& sum = counts[index_of(feature)];
    sum.store(sum.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

/// The state of the calling thread; null until it enters. Without constinit, every use would first check whether it is
/// initialized.
extern constinit thread_local ThreadState* this_thread __attribute__((tls_model("initial-exec")));

/// The states of all threads that have called in. The counts of a thread that has ended stay with the run: the next new
/// thread takes over its state. So a program that starts new threads at every step has only as many states as threads
/// at a time.
class Threads {
 public:
  Threads();

  /// Threads that MPI_Init has started: their file I/O is not the application's.
  void set_apart(std::vector<int> mpi_threads) { mpi_threads_ = std::move(mpi_threads); }

  /// Gives a state to the calling thread, which must have none.
  ThreadState& enter(Ticks now);

  /// `visit(feature, sum)`: each count, summed over all threads.
  template <class Visit>
  void for_each_count(Visit visit) const {
    lock_.lock();
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      std::uint64_t sum = 0;
      for (const ThreadState* state : threads_) sum += state->counts[feature].load(std::memory_order_relaxed);
      visit(feature, sum);
    }
    lock_.unlock();
  }

 private:
  static void release(void* state);

  mutable SpinLock lock_;  // threads may enter while others close segments, at any MPI thread level
  std::vector<ThreadState*> threads_;
  ThreadState* free_ = nullptr;
  std::vector<int> mpi_threads_;
  pthread_key_t thread_end_{};  // its destructor frees the state of a thread
  bool sees_threads_end_;
};

}  // namespace halcyon
