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
/// Its work is that of the thread that has most of it, since the others wait for that one. Neither waiting within the
/// region nor at its end is work: a thread that spins for others there does none, and a region in which any thread is
/// delayed takes longer for the same work. The thread that begins the region gets this work in place of its own, when
/// it ends a segment or the region.
///
/// Where a thread was off the CPU, and another one with more work ended when it did, that one may have spun for it by
/// the program's own means. So it counts, and what counts so is told: it may have been work. Where threads take pieces
/// from each other as they go, a thread that is delayed leaves some of its pieces to the others: a delay makes the
/// region longer by its share of the threads.
///
/// What tasks do is not known, as threads run them while they wait; nor what the teams of regions within this one do.
/// Such a region is blind: the time of the thread that began it counts, as it does without OpenMP, and how long it
/// took.
class Region {
 public:
  static constexpr std::size_t most = 256;  // threads that count

  void begin(ThreadState& thread, Ticks now, bool is_shared_out);
  Ticks began() const { return began_; }
  bool is_blind() const { return is_blind_.load(std::memory_order_relaxed); }
  void share_out() { set(is_shared_out_); }
  void make_blind() { set(is_blind_); }

  /// What the thread of that number has done since the region began: ticks of work, and off the CPU.
  void note(std::size_t thread, std::uint64_t worked, std::uint64_t off) {
    if (thread >= most) return;
    parts_[thread].off.store(off, std::memory_order_relaxed);
    parts_[thread].worked.store(worked + 1, std::memory_order_relaxed);
  }
  /// Of all threads since the last time, ticks.
  struct Work {
    std::uint64_t work = 0;
    std::uint64_t spun = 0;  // may have been work
    std::uint64_t threads = 0;
    std::uint64_t sum = 0;      // of the work of all
    std::uint64_t longest = 0;  // work of any
  };
  Work settle();
  /// All threads have arrived at the end: forgets what they did. Returns how many they were.
  std::size_t end();

  ThreadState* thread() const { return thread_; }

 private:
  struct Part {
    std::atomic<std::uint64_t> worked{0};  // 1 more than that, so that 0 ends the list: a team's numbers have no gap
    std::atomic<std::uint64_t> off{0};
    std::uint64_t settled_work = 0;
    std::uint64_t settled_off = 0;
  };
  // Threads that look for the flag again and again do not take its cache line from each other.
  static void set(std::atomic<bool>& flag) {
    if (!flag.load(std::memory_order_relaxed)) flag.store(true, std::memory_order_relaxed);
  }

  ThreadState* thread_ = nullptr;
  Ticks began_;
  std::atomic<bool> is_shared_out_{false};
  std::atomic<bool> is_blind_{false};
  std::array<Part, most + 1> parts_{};
};

// What a runtime of OpenMP tells of the calling thread. All may be called at any time, before the recorder begins and
// after it has ended. They allocate nothing.

/// A region begins. Null if it is not to be measured: in another one, within a call of MPI, or in a thread that makes
/// no recorded calls. `frame`: an address on the stack that is there until the region ends.
Region* region_begins(const void* frame) noexcept;
/// The threads of the region that this thread begins next take pieces as they go.
void share_out_next_region() noexcept;
/// All threads of the region have left it, and the one that began it from `site` goes on.
void region_ends(Region& region, const void* site) noexcept;
/// This thread begins its part, as number `thread` of the team.
void part_begins(Region& region, std::size_t thread) noexcept;
/// This thread has nothing more to do in the region, and waits for the others.
void part_ends() noexcept;
/// The same, where the runtime has told that wait by itself, and the region may be over.
void part_ends_after_wait() noexcept;
/// Within its part, this thread waits for others.
void team_wait_begins() noexcept;
void team_wait_ends() noexcept;
/// This thread, which has begun a region or not, ends a segment.
void settle_region() noexcept;
/// The region that this thread's part is of; null if there is none.
Region* region_of_this_thread() noexcept;

}  // namespace halcyon
