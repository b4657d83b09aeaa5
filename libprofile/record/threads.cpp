#include "libprofile/record/threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libprofile/system/signal_stack.hpp"

namespace halcyon {

constinit thread_local ThreadState* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

// Zero bytes, so it takes no memory until it is used, and none in a file.
constinit std::array<ThreadState, Threads::most> states{};

// Shared by all that have none of their own. Every call of theirs is inside this one, and so not recorded.
ThreadState& left_out() {
  static constinit ThreadState state;
  state.outermost.begin_own_work();
  return state;
}

// The kernel keeps the number of a thread until it has ended altogether.
bool has_ended(int thread) {
  const int saved = errno;
  const bool ended = syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
  errno = saved;
  return ended;
}

}  // namespace

ThreadState& Threads::state(std::uint32_t index) { return states[index]; }

bool Threads::has_given_up_calls() const {
  for (std::uint32_t i = 0; i < used_.load(std::memory_order_acquire); ++i) {
    if (state(i).outermost.was_given_up()) return true;
  }
  return false;
}

TeamTimes& TeamTimes::operator+=(const TeamTimes& other) {
  own += other.own;
  of_threads += other.of_threads;
  work += other.work;
  longest_work += other.longest_work;
  return *this;
}

TeamTimes Threads::times_of_teams() const {
  TeamTimes times;
  for (std::uint32_t i = 0; i < used_.load(std::memory_order_acquire); ++i) times += state(i).teams;
  return times;
}

ThreadState& Threads::enter(Ticks now) {
  if (getpid() != process_) return left_out();
  const auto id = static_cast<int>(syscall(SYS_gettid));
  ThreadState* const claimed = claim(id);
  if (claimed == nullptr) {
    has_left_out_.store(true, std::memory_order_relaxed);
    this_thread = &left_out();
    return *this_thread;
  }
  // A signal handler may have entered meanwhile, in the same thread. Its state stays unused until the thread ends.
  claimed->outermost.end();
  claimed->fortran_site = nullptr;
  claimed->gathering.forget();
  claimed->steps = nullptr;
  claimed->polling = {};
  claimed->events = {};
  claimed->is_application = std::find(mpi_threads_.begin(), mpi_threads_.end(), id) == mpi_threads_.end();
  claimed->last_exit = now;
  claimed->cpu.restart(thread_cpu_time());
  claimed->cpu_wait = {};
  begin_anew(*claimed, now);
  give_signal_stack(claimed->signal_stack);
  this_thread = claimed;
  return *claimed;
}

// What a thread before it counted stays in the features if that ended segments, and out of them if not.
void Threads::begin_anew(ThreadState& thread, Ticks now) {
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    const std::uint64_t sum = thread.counts[feature].load(std::memory_order_relaxed);
    const std::uint64_t in_features = in_features_of(thread, feature, sum);
    thread.in_features[feature].store(in_features, std::memory_order_relaxed);
    thread.not_in_features[feature].store(sum - in_features, std::memory_order_relaxed);
  }
  thread.ends_segments.store(false, std::memory_order_relaxed);
  thread.at_boundary = thread.sums(now);
}

// No lock: a signal may interrupt this anywhere, and its handler come here as well.
ThreadState* Threads::claim(int thread) {
  std::uint32_t used = used_.load(std::memory_order_relaxed);
  while (true) {
    const std::uint32_t enough = enough_.load(std::memory_order_relaxed);
    if (used >= enough) {
      if (ThreadState* const old = take_over(thread); old != nullptr) return old;
      if (used >= most) return nullptr;
      enough_.store(std::min(2 * used, most), std::memory_order_relaxed);
    } else if (used_.compare_exchange_weak(used, used + 1, std::memory_order_acq_rel)) {
      states[used].owner.store(thread, std::memory_order_relaxed);
      return &states[used];
    }
  }
}

// Looks at each state once, and begins where the last search has ended: so it finds all that there are before it comes
// back to the same ones.
ThreadState* Threads::take_over(int thread) {
  const std::uint32_t used = used_.load(std::memory_order_acquire);
  for (std::uint32_t looks = 0; looks < used; ++looks) {
    ThreadState& old = states[next_look_.fetch_add(1, std::memory_order_relaxed) % used];
    int owner = old.owner.load(std::memory_order_relaxed);
    if (owner != 0 && owner != thread && has_ended(owner) && old.owner.compare_exchange_strong(owner, thread)) {
      return &old;
    }
  }
  return nullptr;
}

}  // namespace halcyon
