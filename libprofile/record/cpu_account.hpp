// How long a thread was on the CPU in its stretches of computation and of calls. Reads the CPU clock only now and then.
#pragma once

#include <algorithm>
#include <cstdint>

#include "libprofile/shared/clock.hpp"

namespace halcyon {

/// When to read the CPU clock, which takes some 200 ns.
struct CpuClockUse {
  double ticks_per_nanosecond = 1.0;
  Ticks long_stretch;  // read after each longer stretch; shorter ones count as wholly on the CPU
  Ticks most_unread;   // read after this much in short stretches, to forget the time off the CPU in them

  static CpuClockUse at(double ticks_per_nanosecond) {
    // A stretch this long may hide a preemption that matters: schedulers give other tasks a millisecond or more. So the
    // clock is read at most once in 200 µs, which costs a thousandth of the time.
    constexpr double long_stretch_ns = 200'000.0;
    // Interrupts and stolen time take some 0.1 % even of short stretches. Their sum in this time does not yet matter,
    // and must not be charged to the next long stretch.
    constexpr double most_unread_ns = 10'000'000.0;
    const auto ticks = [=](double nanoseconds) {
      return Ticks{static_cast<std::uint64_t>(nanoseconds * ticks_per_nanosecond)};
    };
    return {ticks_per_nanosecond, ticks(long_stretch_ns), ticks(most_unread_ns)};
  }
};

/// The account of one thread. Every tick since restart() must be passed once to on_cpu(), wait() or skip().
class CpuAccount {
 public:
  /// `nanoseconds`: the thread's CPU time now.
  void restart(std::uint64_t nanoseconds) {
    at_reading_ = nanoseconds;
    unread_ = {};
    waited_ = {};
  }

  /// A stretch has ended. Returns the part of it on the CPU, and adds the rest to off(). `read_clock()` gives the
  /// thread's CPU time in nanoseconds.
  template <class ReadClock>
  Ticks on_cpu(Ticks stretch, const CpuClockUse& use, ReadClock read_clock) {
    if (stretch > use.long_stretch) {
      const std::uint64_t now = read_clock();
      const double used = static_cast<double>(now - at_reading_) * use.ticks_per_nanosecond;
      const double own = std::clamp(used - static_cast<double>(unread_.count), 0.0, static_cast<double>(stretch.count));
      restart(now);
      const Ticks on{static_cast<std::uint64_t>(own)};
      off_ += stretch - on;
      return on;
    }
    unread_ += stretch;
    if (unread_ > use.most_unread) restart(read_clock());
    return stretch;
  }

  /// The thread has waited, spinning or asleep. Where it does so for long, in whatever stretches, the clock is read:
  /// else all time that it slept would be missing to its next long stretch.
  template <class ReadClock>
  void wait(Ticks stretch, const CpuClockUse& use, ReadClock read_clock) {
    waited_ += stretch;
    if (waited_ > use.long_stretch) {
      restart(read_clock());
    } else {
      unread_ += stretch;
    }
  }

  /// Time on the CPU that belongs to no stretch, such as the recorder's own.
  void skip(Ticks time) { unread_ += time; }

  /// Time off the CPU in long stretches since the thread began.
  Ticks off() const { return off_; }

 private:
  Ticks off_;
  Ticks unread_;                  // short stretches since the last reading of the CPU clock
  Ticks waited_;                  // of that, in which the thread may have slept
  std::uint64_t at_reading_ = 0;  // ns
};

}  // namespace halcyon
