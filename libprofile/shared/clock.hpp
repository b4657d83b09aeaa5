// The recorder's wall clock: the time stamp counter where it runs at one rate on all cores, else CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

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
inline Ticks operator-(Ticks a, Ticks b) { return {a.count > b.count ? a.count - b.count : 0}; }  // a TSC may step back
inline Ticks& operator+=(Ticks& a, Ticks b) {
  a.count += b.count;
  return a;
}
inline bool operator>(Ticks a, Ticks b) { return a.count > b.count; }

/// CPU time of the calling thread, ns.
inline std::uint64_t thread_cpu_time() { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

/// True where the processor promises one constant rate through sleep states and on every core (CPUID 80000007H, EDX 8).
inline bool has_invariant_tsc() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return false;
#endif
}

class Clock {
 public:
  explicit Clock(bool use_tsc = has_invariant_tsc()) : tsc_(use_tsc) {}

  [[gnu::always_inline]] Ticks now() const {
#if defined(__x86_64__)
    if (__builtin_expect(tsc_, 1)) return {__rdtsc()};
#endif
    return {nanoseconds_of(CLOCK_MONOTONIC)};
  }
  bool is_tsc() const { return tsc_; }

 private:
  bool tsc_;
};

/// Converts ticks to time with two readings of both clocks that are far apart: it assumes no rate, and does not wait to
/// measure one.
class TickScale {
 public:
  explicit TickScale(const Clock& clock)
      : clock_(&clock), ticks_(clock.now()), monotonic_(nanoseconds_of(CLOCK_MONOTONIC)) {}

  /// Nanoseconds per tick, measured from construction until now.
  double nanoseconds_per_tick() const {
    if (!clock_->is_tsc()) return 1.0;
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
