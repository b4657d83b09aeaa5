#include "libprofile/record/busy_threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "libprofile/record/cpu_wait.hpp"
#include "libprofile/record/messages.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/thread_times.hpp"

namespace halcyon {
namespace {

// After readings that took a time, none for so many times as long; and the same for looks at all threads. Both together
// take at most 0.5 % of the time.
constexpr double rest = 400.0;
// New threads are looked for no more often. A list of the threads takes some 2 µs and more for each of them.
constexpr double nanoseconds_between_looks = 20e6;
// A thread counts in a segment if it was on the CPU for this share of the work of the thread that ends it. Where that
// is more than usual, perhaps since it spun, the share is of the usual: a delayed thread has done no more than its
// work. Neither is compared with the duration, which grows when others have the CPU.
constexpr double busy_share = 0.2;
// A thread that uses less than the first share of what the busiest one uses, over many segments, is a helper, whatever
// it does in one of them; one that counts does so until it uses less than the second. The busiest thread counts as
// using some of the time at least: a process whose threads all sleep has no busy ones.
constexpr float least_share_of_active = 0.2F;
constexpr float share_of_helper = 0.1F;
constexpr double least_of_busiest = 0.25;
constexpr std::uint32_t looks_in_mean = 16;
// A thread that has ended one of the last segments ends others: what it does is their work, and not that of another's.
constexpr std::uint64_t segments_in_turn = 64;
// A segment that is at least this share of all since the last reading gets what these have not got. In a shorter one,
// the errors of the others would be too large.
constexpr double share_of_long_segment = 0.5;

OwnDescriptor list_of_threads() { return OwnDescriptor(direct::open("/proc/self/task", O_RDONLY | O_DIRECTORY)); }

int number_in(const char* name) {
  int number = 0;
  for (; *name >= '0' && *name <= '9'; ++name) number = 10 * number + (*name - '0');
  return *name == '\0' ? number : 0;
}

}  // namespace

constinit std::array<BusyThreads::Table, 2> BusyThreads::tables_{};

void BusyThreads::begin(std::span<const int> mpi_threads, const CpuClockUse& use, Ticks now) {
  directory_ = list_of_threads();
  mpi_threads_ = mpi_threads;
  use_ = use;
  look_interval_ = {static_cast<std::uint64_t>(nanoseconds_between_looks * use.ticks_per_nanosecond)};
  next_look_ = last_end_ = window_began_ = now;
  constexpr double first_guess = 1000.0;  // ns for each thread
  reading_cost_ = look_cost_ = first_guess * use.ticks_per_nanosecond;
}

// Without these, work is that of the thread that calls MPI.
void BusyThreads::fails(const char* why) {
  is_off_ = true;
  active_ = count_ = 0;
  next_look_ = Ticks{~std::uint64_t{0}};
  warn(why);
}

double BusyThreads::measure(int ender, double own, Ticks end, const Clock& clock) {
  ++segment_;
  if (ender != last_ender_) {
    for (std::size_t i = 0; i < count_; ++i) {
      Other& other = (*others_)[i];
      if (other.id == last_ender_) other.ended_segment = segment_ - 1;
      if (other.id == ender) other.ended_segment = segment_;
    }
    last_ender_ = ender;
  }
  follow(usual_own_, own);
  const Ticks elapsed = end - std::exchange(last_end_, end);
  if (active_ > 0) follow(usual_elapsed_, static_cast<double>(elapsed.count));
  double work = own;
  ++in_window_;
  window_own_ += own;
  if (next_reading_ > end) {
    if (active_ > 0) work = without_reading(own);
    window_given_ += work;
    return work;
  }
  Ticks now = clock.now();
  // Until when there are no more.
  const auto rest_after = [&](double& of_one, std::size_t threads) {
    const Ticks began = std::exchange(now, clock.now());
    const auto count = static_cast<double>(threads);
    follow_cost(of_one, static_cast<double>((now - began).count) / count);
    return Ticks{now.count + static_cast<std::uint64_t>(rest * of_one * count)};
  };
  if (const std::size_t threads = active_; threads > 0) {
    work = least_of_window(ender, own, end);
    next_reading_ = rest_after(reading_cost_, threads);
  }
  if (end > next_look_) {
    look(ender, now);
    const Ticks rested = rest_after(look_cost_, std::max<std::size_t>(count_, 1));
    if (!is_off_) next_look_ = {std::max(now.count + look_interval_.count, rested.count)};
  }
  in_window_ = 0;
  window_own_ = window_given_ = 0.0;
  window_began_ = end;
  is_interrupted_ = false;
  return work;
}

// A thread may lose its CPU while it reads: that is no cost of reading, and must not end it for a second.
void BusyThreads::follow_cost(double& of_one, double measured) {
  constexpr double up = 1.1;
  constexpr double down = 0.8;
  of_one = std::clamp(measured, of_one * down, of_one * up);
}

// A running quartile: one value in four is below it, as a step down is three times a step up. Delays raise the others.
void BusyThreads::follow(double& usual, double value) const {
  constexpr double up = 1.02;
  constexpr double down = 1.0 / (up * up * up);
  constexpr std::uint64_t first_segments = 16;  // for which the least counts
  if (usual <= 0.0 || (segment_ < first_segments && value < usual)) {
    usual = value;
  } else {
    usual *= std::clamp(value / usual, down, up);
  }
}

bool BusyThreads::ends_segments(const Other& other, int ender) const {
  return other.id == ender || (other.ended_segment > 0 && segment_ - other.ended_segment < segments_in_turn);
}

// How long the thread waited for a CPU since this was last asked, of so much time off the CPU.
double BusyThreads::wait_of(Other& other, double off_cpu, Ticks end) {
  other.off_since_asked += std::max(off_cpu, 0.0);
  const double worth_it = off_cpu_for_asking * opening_schedstat_ns * use_.ticks_per_nanosecond;
  if (next_asking_ > end || (worth_it > other.off_since_asked && other.is_wait_known)) return 0.0;
  next_asking_ = {end.count + static_cast<std::uint64_t>(worth_it)};
  const double off = std::exchange(other.off_since_asked, 0.0);
  const std::optional<std::uint64_t> now = cpu_wait_of(directory_.number(), other.id);
  if (!now) return 0.0;
  const std::uint64_t before = std::exchange(other.waited, *now);
  if (!std::exchange(other.is_wait_known, true)) return 0.0;
  return std::min(off, static_cast<double>(*now - before) * use_.ticks_per_nanosecond);
}

// Reads the clocks of the active threads.
double BusyThreads::least_of_window(int ender, double own, Ticks end) {
  const auto elapsed = static_cast<double>((end - window_began_).count);
  const double usual = std::min(window_own_, static_cast<double>(in_window_) * usual_own_);
  double least = window_own_;
  double longest_wait = 0.0;
  for (std::size_t i = 0; i < count_; ++i) {
    Other& other = (*others_)[i];
    if (!other.is_active) continue;
    const std::optional<std::uint64_t> cpu = cpu_time_of(other.id);
    if (!cpu || *cpu < other.at_reading) {  // it has ended; another may have its number now
      other.is_active = false;
      --active_;
      continue;
    }
    const double used = static_cast<double>(*cpu - other.at_reading) * use_.ticks_per_nanosecond;
    other.at_reading = *cpu;
    if (used < busy_share * usual || ends_segments(other, ender)) continue;
    least = std::min(least, used);
    longest_wait = std::max(longest_wait, wait_of(other, elapsed - used, end));
  }
  // It may have waited where it would have been early.
  const double beyond_usual = elapsed - static_cast<double>(in_window_) * usual_elapsed_;
  if (!is_interrupted_) lost_to_wait_ = std::clamp(longest_wait, 0.0, std::max(beyond_usual, 0.0));
  if (is_interrupted_ || window_own_ <= 0.0) return without_reading(own);
  follow_window(least);
  if (in_window_ == 1) return least;
  if (own < share_of_long_segment * window_own_) return without_reading(own);
  return std::clamp(least - window_given_, 0.0, own);
}

// Medians of the last windows, so that delays in some of them do not change them.
void BusyThreads::follow_window(double least) {
  const std::size_t at = window_count_++ % windows;
  ratios_[at] = static_cast<float>(least / window_own_);
  leasts_[at] = static_cast<float>(least / static_cast<double>(in_window_));
  const std::size_t known = std::min(window_count_, windows);
  const auto median = [known](std::array<float, windows> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(known / 2);
    std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(known));
    return static_cast<double>(*middle);
  };
  usual_ratio_ = median(ratios_);
  usual_least_ = median(leasts_);
}

// The work of a segment of which only the own part is known. If that is small, the thread has not spun.
double BusyThreads::without_reading(double own) const {
  return std::max(own * usual_ratio_, std::min(own, usual_least_));
}

double BusyThreads::used_since_look(const Other& other) const {
  return static_cast<double>(other.at_reading - other.at_look) * use_.ticks_per_nanosecond;
}

// Finds the threads there are, and which of them use much of the CPU.
void BusyThreads::look(int ender, Ticks now) {
  if (!list()) return;
  const auto interval = static_cast<double>((now - last_look_).count);
  const bool is_first = last_look_.count == 0;
  last_look_ = now;
  double busiest = least_of_busiest * interval;
  bool is_any_read = false;
  for (std::size_t i = 0; i < count_; ++i) {
    Other& other = (*others_)[i];
    const std::optional<std::uint64_t> cpu = cpu_time_of(other.id);
    is_any_read = is_any_read || cpu.has_value();
    if (!cpu || !other.is_read || *cpu < other.at_reading) {  // a new thread, perhaps with the number of an old one
      other = Other{.id = other.id, .at_look = cpu.value_or(0)};
    }
    other.at_reading = cpu.value_or(0);
    busiest = std::max(busiest, used_since_look(other));
  }
  if (!is_any_read) {
    fails("the kernel does not tell the CPU time of other threads: work is measured in the one that calls MPI");
    return;
  }
  active_ = 0;
  std::size_t busy = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    Other& other = (*others_)[i];
    if (!std::exchange(other.is_read, other.at_reading > 0) || !other.is_read) continue;
    const auto share = static_cast<float>(used_since_look(other) / std::max(busiest, 1.0));
    other.at_look = other.at_reading;
    other.looks = std::min(other.looks + 1, looks_in_mean);
    other.share += (share - other.share) / static_cast<float>(other.looks);
    if (other.share >= least_share_of_active) ++busy;
    other.is_active = other.id != ender && other.share >= (other.is_active ? share_of_helper : least_share_of_active);
    if (other.is_active) ++active_;
  }
  if (is_first) return;
  busy_time_ += static_cast<double>(std::max<std::size_t>(busy, 1)) * interval;
  looked_at_ += interval;
}

// Both tables have the threads in the order in which the kernel lists them, which is that in which they began: so the
// next one is nearly always the next one of the table before.
bool BusyThreads::list() {
  if (!directory_.is_still_ours()) {  // the program may close any descriptor
    directory_ = list_of_threads();
    if (!directory_ && (errno == EMFILE || errno == ENFILE)) return false;  // it may close others until the next look
    if (!directory_) {
      fails("the threads of the process are not known (/proc/self/task): work is measured in the one that calls MPI");
      return false;
    }
  }
  if (syscall(SYS_lseek, directory_.number(), 0, SEEK_SET) != 0) return true;
  const Table& before = *others_;
  Table& now = others_ == &tables_[0] ? tables_[1] : tables_[0];
  std::size_t next = 0;
  std::size_t found = 0;
  constexpr std::size_t length_at = 16;  // in an entry of getdents64(2)
  constexpr std::size_t name_at = 19;
  for (;;) {
    const long got = syscall(SYS_getdents64, directory_.number(), names_.data(), names_.size());
    if (got <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      std::uint16_t length = 0;
      std::memcpy(&length, &names_[at + length_at], sizeof length);
      const int id = number_in(&names_[at + name_at]);
      at += length;
      if (id <= 0 || std::find(mpi_threads_.begin(), mpi_threads_.end(), id) != mpi_threads_.end()) continue;
      if (found == most) {
        warn("more than 1024 threads at a time: the work of some is not measured");
        break;
      }
      std::size_t place = next;
      while (place < count_ && before[place].id != id) ++place;
      if (place < count_) {
        now[found++] = before[place];
        next = place + 1;
      } else {
        now[found] = {};
        now[found++].id = id;
      }
    }
  }
  others_ = &now;
  count_ = found;
  return true;
}

}  // namespace halcyon
