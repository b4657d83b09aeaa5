#include "libprofile/record/team.hpp"

#include <algorithm>
#include <utility>

#include "libprofile/record/recorder.hpp"

namespace halcyon {
namespace {

// A thread as a member of teams.
struct Member {
  Region* region = nullptr;
  const void* frame = nullptr;  // of the region that it has begun
  std::size_t number = 0;       // in the team
  std::uint64_t worked = 0;     // in the region, ticks
  CpuAccount cpu;               // of a thread that did not begin the region
  Ticks last;                   // it has worked or waited since
  bool is_known = false;        // the account has begun
  Region own;                   // that it begins
  bool shares_out_next = false;

  bool has_begun_region() const { return region == &own; }
};
constinit thread_local Member member __attribute__((tls_model("initial-exec")));

bool is_recorded() { return recording.load(std::memory_order_acquire); }

void note_own_work(Region& region) {
  if (recorder->meters.counter.kind() == Counter::Kind::cpu) region.note(member.number, region.own_work());
}

}  // namespace

void Region::begin(ThreadState& thread, Ticks now, bool is_shared_out) {
  thread_ = &thread;
  began_ = now;
  work_at_begin_ = thread.work;
  is_shared_out_.store(is_shared_out, std::memory_order_relaxed);
  has_tasks_.store(false, std::memory_order_relaxed);
}

std::uint64_t Region::end() {
  std::uint64_t longest = 0;
  std::uint64_t sum = 0;
  std::uint64_t threads = 0;
  for (; const std::uint64_t worked = worked_[threads].load(std::memory_order_relaxed); ++threads) {
    worked_[threads].store(0, std::memory_order_relaxed);
    longest = std::max(longest, worked - 1);
    sum += worked - 1;
  }
  return is_shared_out() && threads > 0 ? sum / threads : longest;
}

Region* region_of_this_thread() noexcept { return member.region; }

void share_out_next_region() noexcept { member.shares_out_next = true; }

Region* region_begins(const void* frame) noexcept {
  const bool is_shared_out = std::exchange(member.shares_out_next, false);
  if (!is_recorded() || this_thread == nullptr || this_thread->outermost.is_begun()) return nullptr;
  // One that an exception or a jump has left is over: it began farther down on the stack.
  if (member.region != nullptr && !(member.has_begun_region() && frame >= member.frame)) return nullptr;
  const Ticks now = recorder->meters.clock.now();
  recorder->meters.end_computation(*this_thread, now);
  if (recorder->meters.counter.kind() == Counter::Kind::papi) recorder->meters.begin_counting(*this_thread);
  member.frame = frame;
  member.own.begin(*this_thread, now, is_shared_out);
  return &member.own;
}

void region_ends(Region& region) noexcept {
  if (!is_recorded()) return;
  ThreadState& thread = *region.thread();
  recorder->meters.wait_ends(thread, region.has_tasks());
  const std::uint64_t work = region.end();
  if (region.has_tasks() || !region.is_in_one_segment() || recorder->meters.counter.kind() != Counter::Kind::cpu)
    return;
  thread.work += work - region.own_work();  // may be less than its own
  thread.in_regions += work;
}

void part_begins(Region& region, std::size_t thread) noexcept {
  if (!is_recorded()) return;
  member.number = thread;
  member.region = &region;
  member.worked = 0;
  const Meters& meters = recorder->meters;
  if (member.has_begun_region()) {  // until the others were there
    meters.wait_ends(*region.thread(), false);
    return;
  }
  const Ticks now = meters.clock.now();
  if (member.is_known) {
    member.cpu.wait(now - member.last, meters.cpu_clock_use, thread_cpu_time);
  } else {
    member.cpu.restart(thread_cpu_time());
    member.is_known = true;
  }
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
  if (member.has_begun_region()) {
    meters.end_computation(*member.own.thread(), now);
    note_own_work(member.own);
    return;
  }
  member.worked += member.cpu.on_cpu(now - member.last, meters.cpu_clock_use, thread_cpu_time).count;
  member.last = now;
  member.region->note(member.number, member.worked);
}

// The region may be over, and its thread have ended: only its own thread looks at it.
void team_wait_ends() noexcept {
  if (member.region == nullptr || !is_recorded()) return;
  const Meters& meters = recorder->meters;
  if (member.has_begun_region()) {
    meters.wait_ends(*member.own.thread(), member.own.has_tasks());
    return;
  }
  const Ticks now = meters.clock.now();
  member.cpu.wait(now - member.last, meters.cpu_clock_use, thread_cpu_time);
  member.last = now;
}

}  // namespace halcyon
