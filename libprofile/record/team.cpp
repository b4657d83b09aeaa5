#include "libprofile/record/team.hpp"

#include <algorithm>
#include <utility>

#include "libprofile/record/recorder.hpp"

namespace halcyon {
namespace {

// A thread as a member of teams. A region of its own would be too large for the stacks of small threads, where the
// thread-local variables are.
struct Member {
  Region* region = nullptr;
  Region* own = nullptr;        // that it begins
  const void* frame = nullptr;  // when it began that
  std::size_t number = 0;       // in the team
  std::uint64_t worked = 0;     // in the region, ticks
  std::uint64_t off = 0;        // the CPU since the region began, ticks
  std::uint64_t late = 0;       // of that, before it began its part
  std::uint64_t settled = 0;    // of `worked`
  bool shares_out_next = false;
  // A thread with an account of its calls has all in that one, without the time of these. Another one has this.
  ThreadState* state = nullptr;
  std::uint64_t work_before = 0;  // of the state, that is in `worked` or before the region
  Ticks off_before;
  CpuAccount cpu;
  Ticks last;             // it has worked or waited since
  bool is_known = false;  // the account has begun

  bool has_begun_region() const { return region != nullptr && region == own; }
};
constinit thread_local Member member __attribute__((tls_model("initial-exec")));

// For threads that begin regions: few of them. Zero bytes, so that they take no memory until they are used.
constinit std::array<Region, 64> regions{};
std::atomic<std::size_t> regions_used{0};

bool is_recorded() { return recording.load(std::memory_order_acquire); }
bool counts_time() { return recorder->meters.counter.kind() == Counter::Kind::cpu; }

Region* own_region() {
  if (member.own == nullptr && regions_used.load(std::memory_order_relaxed) < regions.size()) {
    const std::size_t index = regions_used.fetch_add(1, std::memory_order_relaxed);
    if (index < regions.size()) member.own = &regions[index];
  }
  return member.own;
}

// A stretch of work of this thread has ended.
void note_work() {
  member.worked += member.state->work - member.work_before;
  member.off += (member.state->off_in_work - member.off_before).count;
  member.work_before = member.state->work;
  member.off_before = member.state->off_in_work;
  if (counts_time()) member.region->note(member.number, member.worked, member.off);
}

// The thread that has begun the region gets the work of all in place of its own.
void take_work_of_all(Region& region) {
  if (!counts_time() || region.is_blind()) return;
  ThreadState& thread = *region.thread();
  const Region::Work all = region.settle();
  const std::uint64_t own = member.worked - std::exchange(member.settled, member.worked);
  thread.work += all.work - own;  // may be less
  thread.in_regions += all.work;
  thread.spun_in_regions += all.spun;
  thread.teams += {.work = all.sum, .longest_work = all.threads * all.longest};
  member.work_before = thread.work;
}

}  // namespace

void Region::begin(ThreadState& thread, Ticks now, bool is_shared_out) {
  end();  // in case an earlier one was left by a jump
  thread_ = &thread;
  began_ = now;
  is_shared_out_.store(is_shared_out, std::memory_order_relaxed);
  is_blind_.store(false, std::memory_order_relaxed);
}

Region::Work Region::settle() {
  std::uint64_t threads = 0;
  std::uint64_t longest = 0;
  std::uint64_t sum = 0;
  std::uint64_t sum_off = 0;
  std::uint64_t most_off = 0;
  std::uint64_t work_of_most_off = 0;
  std::uint64_t all_of_longest = 0;  // work and off
  for (; const std::uint64_t worked = parts_[threads].worked.load(std::memory_order_relaxed); ++threads) {
    Part& part = parts_[threads];
    const std::uint64_t work = worked - 1 - std::exchange(part.settled_work, worked - 1);
    const std::uint64_t all_off = part.off.load(std::memory_order_relaxed);
    const std::uint64_t off = all_off - std::exchange(part.settled_off, all_off);
    if (work >= longest) {
      longest = work;
      all_of_longest = work + off;
    }
    sum += work;
    sum_off += off;
    if (off >= most_off) {
      most_off = off;
      work_of_most_off = work;
    }
  }
  Work all{.threads = threads, .sum = sum, .longest = longest};
  if (threads == 0) return all;
  if (is_shared_out_.load(std::memory_order_relaxed)) {
    all.work = std::max(sum / threads, longest - std::min(longest, sum_off / threads));
    return all;
  }
  const std::uint64_t all_of_delayed = work_of_most_off + most_off;
  const std::uint64_t apart = std::max(all_of_delayed, all_of_longest) - std::min(all_of_delayed, all_of_longest);
  const bool ended_together = apart < all_of_longest / 32;
  all.spun = ended_together ? std::min(most_off, longest - work_of_most_off) : 0;
  all.work = longest - all.spun;
  return all;
}

std::size_t Region::end() {
  std::size_t threads = 0;
  for (; parts_[threads].worked.load(std::memory_order_relaxed) != 0; ++threads) {
    Part& part = parts_[threads];
    part.worked.store(0, std::memory_order_relaxed);
    part.settled_work = part.settled_off = 0;
  }
  return threads;
}

Region* region_of_this_thread() noexcept { return member.region; }

void share_out_next_region() noexcept { member.shares_out_next = true; }

Region* region_begins(const void* frame) noexcept {
  const bool is_shared_out = std::exchange(member.shares_out_next, false);
  if (!is_recorded() || this_thread == nullptr || this_thread->outermost.is_begun()) return nullptr;
  // One that an exception or a jump has left is over: it began farther down on the stack.
  if (member.region != nullptr && !(member.has_begun_region() && frame >= member.frame)) return nullptr;
  Region* const region = own_region();
  if (region == nullptr) return nullptr;
  const Meters& meters = recorder->meters;
  meters.begin_counting(*this_thread);
  const Ticks now = meters.clock.now();
  meters.end_computation(*this_thread, now);
  member.frame = frame;
  region->begin(*this_thread, now, is_shared_out);
  return region;
}

namespace {

// A program of one rank, or whose ranks seldom need each other, may have regions in each of its steps, and no calls.
void note_recurring(ThreadState& thread, const Region& region, const void* site) {
  const bool is_looked_for = thread.steps != nullptr && &thread == this_thread && site != nullptr;
  if (!is_looked_for || !thread.steps->met(site)) return;
  const Meters& meters = recorder->meters;
  if (region.is_blind()) meters.end_computation(thread, meters.clock.now());
  recorder->look_for_step(thread, site, region.began(), thread.last_exit);
}

}  // namespace

void region_ends(Region& region, const void* site) noexcept {
  if (!is_recorded()) return;
  ThreadState& thread = *region.thread();
  recorder->meters.wait_ends(thread, region.is_blind());
  take_work_of_all(region);
  const std::size_t threads = region.end();
  if (region.is_blind()) {
    if (threads > 1) thread.in_blind_regions += recorder->meters.clock.now() - region.began();
  } else if (counts_time()) {
    const std::uint64_t lasted = (thread.last_exit - region.began()).count;
    thread.teams += {.own = lasted, .of_threads = threads * lasted};
  }
  note_recurring(thread, region, site);
}

void settle_region() noexcept {
  if (__builtin_expect(member.has_begun_region(), 0)) {
    note_work();
    take_work_of_all(*member.region);
  }
}

void part_begins(Region& region, std::size_t thread) noexcept {
  if (!is_recorded()) return;
  member.number = thread;
  member.region = &region;
  member.worked = member.settled = 0;
  member.state = this_thread;
  const Meters& meters = recorder->meters;
  const Ticks now = meters.clock.now();
  member.late = (now - region.began()).count;
  member.off = member.late;
  if (member.state != nullptr) {
    if (!member.has_begun_region()) meters.end_computation(*member.state, now);
    meters.wait_ends(*member.state, false);  // until the others were there
    member.work_before = member.state->work;
    member.off_before = member.state->off_in_work;
    return;
  }
  if (member.is_known) {
    member.cpu.wait(now - member.last, meters.cpu_clock_use, thread_cpu_time);
  } else {
    member.cpu.restart(thread_cpu_time());
    member.is_known = true;
  }
  member.off_before = member.cpu.off();
  member.last = now;
}

void part_ends() noexcept {
  team_wait_begins();
  member.region = nullptr;
}

void part_ends_after_wait() noexcept { member.region = nullptr; }

void team_wait_begins() noexcept {
  if (member.region == nullptr || !is_recorded()) return;
  const Meters& meters = recorder->meters;
  const Ticks now = meters.clock.now();
  if (member.state != nullptr) {
    meters.end_computation(*member.state, now);
    note_work();
    return;
  }
  member.worked += member.cpu.on_cpu(now - member.last, meters.cpu_clock_use, thread_cpu_time).count;
  member.off = member.late + (member.cpu.off() - member.off_before).count;
  member.last = now;
  member.region->note(member.number, member.worked, member.off);
}

// The region may be over, and its thread have ended: only its own thread looks at it.
void team_wait_ends() noexcept {
  if (member.region == nullptr || !is_recorded()) return;
  const Meters& meters = recorder->meters;
  if (member.state != nullptr) {
    meters.wait_ends(*member.state, member.has_begun_region() && member.own->is_blind());
    return;
  }
  const Ticks now = meters.clock.now();
  member.cpu.wait(now - member.last, meters.cpu_clock_use, thread_cpu_time);
  member.last = now;
}

}  // namespace halcyon
