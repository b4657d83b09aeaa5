// What the other threads of the process do while one thread calls MPI: how long each was on the CPU in a segment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "libprofile/record/cpu_account.hpp"
#include "libprofile/shared/clock.hpp"
#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {

/// The work of a segment is the least CPU time of its busy threads: while one of them is delayed, the others may spin
/// until it is there, but it does nothing beyond its work, and delays hit one thread at a time. So the thread that ends
/// the segment, whose work the caller knows, is compared with the threads that use much of the CPU.
///
/// CPU clocks of other threads are read at boundaries only, and so seldom that it takes at most 0.5 % of the time, for
/// any number of threads and segments. Called by one thread at a time, within calls of MPI. Allocates nothing.
class BusyThreads {
 public:
  static constexpr std::size_t most = 1024;

  /// `mpi_threads`: threads that MPI has started, which do not count; they must outlive this.
  void begin(std::span<const int> mpi_threads, const CpuClockUse& clock, Ticks now);

  /// The work of the segment that the thread `ender` has ended at `end`. `own`: what this thread did, on the CPU
  /// outside MPI and file I/O. `is_known`: that is the work of the others, too, and these only tell how long they
  /// waited for a CPU. `clock`: its tick is that of all times here.
  double work_of_segment(int ender, double own, bool is_known, Ticks end, const Clock& clock) {
    if (__builtin_expect(active_ == 0 && next_look_ > end, 1)) return own;
    const double work = measure(ender, own, end, clock);
    if (is_known) return own;
    beyond_least_ += own - work;
    return work;
  }

  /// How much longer the segment was, at least, because another busy thread waited for a CPU: ticks. 0 if that is not
  /// known, or asked a second time.
  double take_wait() { return std::exchange(lost_to_wait_, 0.0); }

  /// The time since the last boundary is in no segment.
  void restart() { is_interrupted_ = true; }

  /// How many threads were busy at a time, the one that calls MPI included: mean over the time in which this was looked
  /// at. 0 if it was not.
  double mean() const { return looked_at_ > 0.0 ? busy_time_ / looked_at_ : 0.0; }

  /// What the threads that end segments did beyond the work of these: ticks. They spun, or did more than others.
  double beyond_least() const { return beyond_least_; }

 private:
  struct Other {
    int id = 0;
    bool is_active = false;     // uses so much of the CPU that it may be busy in a segment
    bool is_read = false;       // the clock has been read
    float share = 0.0F;         // of what the busiest thread used of the CPU, mean over the last looks
    std::uint32_t looks = 0;    // that the mean is over
    std::uint64_t at_look = 0;  // its CPU time, ns
    std::uint64_t at_reading = 0;
    std::uint64_t waited = 0;  // for a CPU, ns, when this was last asked
    bool is_wait_known = false;
    double off_since_asked = 0.0;     // the CPU, ticks
    std::uint64_t ended_segment = 0;  // the last one that it ended itself; 0: none
  };
  using Table = std::array<Other, most>;
  // Zero bytes, so that they take no memory until they are used; one of them is made anew at each look.
  static std::array<Table, 2> tables_;
  static constexpr std::size_t windows = 9;

  [[gnu::noinline]] double measure(int ender, double own, Ticks end, const Clock& clock);
  void follow(double& usual, double value) const;
  double wait_of(Other& other, double off_cpu, Ticks end);
  static void follow_cost(double& of_one, double measured);
  double least_of_window(int ender, double own, Ticks end);
  void look(int ender, Ticks now);
  bool list();
  bool ends_segments(const Other& other, int ender) const;
  void follow_window(double least);
  double without_reading(double own) const;
  double used_since_look(const Other& other) const;
  void fails(const char* why);

  std::span<const int> mpi_threads_;
  CpuClockUse use_;
  OwnDescriptor directory_;  // /proc/self/task
  bool is_off_ = false;      // the kernel does not say
  bool is_interrupted_ = false;
  Table* others_ = &tables_[0];
  std::size_t count_ = 0;
  std::size_t active_ = 0;
  Ticks next_look_;
  Ticks next_reading_;
  Ticks next_asking_;
  Ticks last_look_;
  Ticks look_interval_;
  double reading_cost_ = 0.0;  // for each thread, ticks
  double look_cost_ = 0.0;

  // Segments since the last reading, the one that ends now included.
  std::uint64_t segment_ = 0;  // number of the one that ends now, from 1
  int last_ender_ = 0;
  std::uint64_t in_window_ = 0;
  double window_own_ = 0.0;
  double window_given_ = 0.0;  // work that segments of the window have been given
  double usual_own_ = 0.0;     // of a segment
  double usual_elapsed_ = 0.0;
  Ticks window_began_;
  Ticks last_end_;
  double lost_to_wait_ = 0.0;
  // In the last windows, the least work: its ratio to the own one, and how much there was for each segment.
  std::array<float, windows> ratios_{};
  std::array<float, windows> leasts_{};
  std::size_t window_count_ = 0;
  double usual_ratio_ = 1.0;
  double usual_least_ = 0.0;

  double busy_time_ = 0.0;  // sum over looks of threads times ticks
  double looked_at_ = 0.0;  // ticks
  double beyond_least_ = 0.0;

  alignas(std::size_t) std::array<char, 4096> names_{};
};

}  // namespace halcyon
