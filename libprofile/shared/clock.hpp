// The recorder's wall clock: a counter of the processor where one runs at one rate on all cores, else CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

#include "libprofile/format/clock_source.hpp"
#include "libprofile/system/nanoseconds.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace halcyon {

/// A time or a span of the recorder's clock, in the clock's own unit; TickScale converts it.
struct Ticks {
  std::uint64_t count = 0;
};
// A counter may step back: nothing keeps a core from reading it before earlier instructions have ended.
inline Ticks operator-(Ticks a, Ticks b) { return {a.count > b.count ? a.count - b.count : 0}; }
inline Ticks& operator+=(Ticks& a, Ticks b) {
  a.count += b.count;
  return a;
}
inline bool operator>(Ticks a, Ticks b) { return a.count > b.count; }

/// CPU time of the calling thread, ns.
inline std::uint64_t thread_cpu_time() { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

/// The processor's counter, which need not run at one rate; 0 where none is known.
[[gnu::always_inline]] inline std::uint64_t processor_counter() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return 0;
#endif
}

/// Whether a counter that claims a rate of `hertz` may have counted `ticks` in a time between `least` and `most` ns.
constexpr bool may_have_counted(std::uint64_t ticks, std::uint64_t hertz, std::uint64_t least, std::uint64_t most) {
  constexpr double tolerance = 0.01;  // CLOCK_MONOTONIC follows the time of other hosts, by 0.05 % at most
  constexpr double reading = 2.0;     // ticks: each end of the time is up to one off
  const double per_nanosecond = 1e-9 * static_cast<double>(hertz);
  const auto counted = static_cast<double>(ticks);
  return hertz > 0 && counted + reading >= (1.0 - tolerance) * per_nanosecond * static_cast<double>(least) &&
         counted - reading <= (1.0 + tolerance) * per_nanosecond * static_cast<double>(most);
}

/// The rate that the processor's counter claims to have, Hz; 0 if it names none.
inline std::uint64_t claimed_rate() {
#if defined(__aarch64__)
  std::uint64_t hertz = 0;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
  return hertz;
#else
  return 0;
#endif
}

/// Holds the processor's counter against CLOCK_MONOTONIC for 50 µs: firmware has named wrong rates, and hypervisors
/// have let counters stand still.
inline bool keeps_claimed_rate() {
  constexpr std::uint64_t span = 50'000;
  const std::uint64_t before_first = nanoseconds_of(CLOCK_MONOTONIC);
  const std::uint64_t first = processor_counter();
  const std::uint64_t after_first = nanoseconds_of(CLOCK_MONOTONIC);
  std::uint64_t before_last = after_first;
  while (before_last - after_first < span) before_last = nanoseconds_of(CLOCK_MONOTONIC);
  const std::uint64_t last = processor_counter();
  const std::uint64_t after_last = nanoseconds_of(CLOCK_MONOTONIC);
  return may_have_counted(last - first, claimed_rate(), before_last - after_first, after_last - before_first);
}

/// A counter that runs at one rate through sleep states and on every core. x86-64 promises it in CPUID 80000007H, EDX
/// 8; that of aarch64 is the system's, at the rate that firmware names.
inline ClockSource best_clock_source() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0) return ClockSource::time_stamp_counter;
#elif defined(__aarch64__)
  if (keeps_claimed_rate()) return ClockSource::generic_timer;
#endif
  return ClockSource::monotonic;
}

class Clock {
 public:
  explicit Clock(ClockSource source = best_clock_source()) : source_(source) {}

  [[gnu::always_inline]] Ticks now() const {
    if (__builtin_expect(source_ != ClockSource::monotonic, 1)) return {processor_counter()};
    return {nanoseconds_of(CLOCK_MONOTONIC)};
  }
  ClockSource source() const { return source_; }

 private:
  ClockSource source_;
};

/// Converts ticks to time with two readings of both clocks that are far apart: it assumes no rate, and does not wait to
/// measure one.
class TickScale {
 public:
  explicit TickScale(const Clock& clock)
      : clock_(&clock), ticks_(clock.now()), monotonic_(nanoseconds_of(CLOCK_MONOTONIC)) {}

  /// Nanoseconds per tick, measured from construction until now.
  double nanoseconds_per_tick() const {
    if (clock_->source() == ClockSource::monotonic) return 1.0;
    const Ticks ticks = clock_->now() - ticks_;
    const std::uint64_t elapsed = nanoseconds_of(CLOCK_MONOTONIC) - monotonic_;
    return ticks.count > 0 ? static_cast<double>(elapsed) / static_cast<double>(ticks.count) : 1.0;
  }

 private:
  const Clock* clock_;
  Ticks ticks_;
  std::uint64_t monotonic_;
};

}  // namespace halcyon
