// Teams of OpenMP: what the threads of a parallel region work in it, without their waiting for each other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libprofile/record/cpu_account.hpp"
#include "libprofile/record/threads.hpp"
#include "libprofile/shared/clock.hpp"

namespace halcyon {

/// A parallel region that a thread of the application has begun, which no other one is around.
///
/// Its work is that of the thread that has most of it, since the others wait for that one; where threads take pieces
/// from each other as they go, the mean, since one that is delayed leaves its pieces to the others. The thread that
/// begins the region gets this work in place of its own, and neither waits within the region nor at its end. So a
/// thread that spins does no work, and a region in which any thread is delayed takes longer for the same work.
///
/// What tasks do is not known, as threads run them while they wait. In a region with tasks, the time of the thread that
/// began it counts, as it does without OpenMP.
class Region {
 public:
  static constexpr std::size_t most = 256;  // threads that count

  void begin(ThreadState& thread, Ticks now, bool is_shared_out);
  bool is_shared_out() const { return is_shared_out_.load(std::memory_order_relaxed); }
  bool has_tasks() const { return has_tasks_.load(std::memory_order_relaxed); }
  void share_out() { set(is_shared_out_); }
  void add_tasks() { set(has_tasks_); }

  /// What the thread of that number has worked so far, ticks.
  void note(std::size_t thread, std::uint64_t worked) {
    if (thread < most) worked_[thread].store(worked + 1, std::memory_order_relaxed);
  }
  /// All threads have arrived at the end.
  std::uint64_t end();

  ThreadState* thread() const { return thread_; }
  /// What the thread that began it has worked since, ticks or events.
  std::uint64_t own_work() const { return thread_->work - work_at_begin_; }
  /// It has ended no segment since.
  bool is_in_one_segment() const { return began_ > thread_->at_boundary.time; }

 private:
  // Threads that look for the flag again and again do not take its cache line from each other.
  static void set(std::atomic<bool>& flag) {
    if (!flag.load(std::memory_order_relaxed)) flag.store(true, std::memory_order_relaxed);
  }

  ThreadState* thread_ = nullptr;
  Ticks began_;
  std::uint64_t work_at_begin_ = 0;
  std::atomic<bool> is_shared_out_{false};
  std::atomic<bool> has_tasks_{false};
  // 1 more than that, so that 0 ends the list: a team's numbers have no gap.
  std::array<std::atomic<std::uint64_t>, most + 1> worked_{};
};

// What a runtime of OpenMP tells of the calling thread. All may be called at any time, before the recorder begins and
// after it has ended. They allocate nothing.

/// A region begins. Null if it is not to be measured: in another one, within a call of MPI, or in a thread that makes
/// no recorded calls. `frame`: an address on the stack that is there until the region ends.
Region* region_begins(const void* frame) noexcept;
/// The threads of the region that this thread begins next take pieces as they go.
void share_out_next_region() noexcept;
/// All threads of the region have left it, and the one that began it goes on.
void region_ends(Region& region) noexcept;
/// This thread begins its part, as number `thread` of the team.
void part_begins(Region& region, std::size_t thread) noexcept;
/// This thread has nothing more to do in the region, and waits for the others.
void part_ends() noexcept;
/// The same, where the runtime has told that wait by itself, and the region may be over.
void part_ends_after_wait() noexcept;
/// Within its part, this thread waits for others.
void team_wait_begins() noexcept;
void team_wait_ends() noexcept;
/// The region that this thread's part is of; null if there is none.
Region* region_of_this_thread() noexcept;

}  // namespace halcyon
