#include "libprofile/shared/clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace halcyon;

constexpr std::uint64_t millisecond = 1'000'000;
constexpr std::uint64_t megahertz = 1'000'000;

TEST(CounterOfAProcessor, IsTakenIfItKeepsTheRateThatItClaims) {
  EXPECT_TRUE(may_have_counted(25'000, 25 * megahertz, millisecond, millisecond));
  EXPECT_TRUE(may_have_counted(25'010, 25 * megahertz, millisecond, millisecond)) << "CLOCK_MONOTONIC may be slewed";
  EXPECT_FALSE(may_have_counted(50'000, 25 * megahertz, millisecond, millisecond));
  EXPECT_FALSE(may_have_counted(24'000, 25 * megahertz, millisecond, millisecond));
  EXPECT_FALSE(may_have_counted(0, 25 * megahertz, millisecond, millisecond)) << "it stands still";
  EXPECT_FALSE(may_have_counted(0, 0, millisecond, millisecond)) << "firmware names no rate";
}

TEST(CounterOfAProcessor, IsNotRefusedBecauseTheProcessLostItsCpuBetweenTheReadings) {
  EXPECT_TRUE(may_have_counted(25'000, 25 * megahertz, millisecond, 9 * millisecond));
  EXPECT_TRUE(may_have_counted(225'000, 25 * megahertz, millisecond, 9 * millisecond));
  EXPECT_FALSE(may_have_counted(250'000, 25 * megahertz, millisecond, 9 * millisecond));
}

TEST(CounterOfAProcessor, MayBeSlow) {
  EXPECT_TRUE(may_have_counted(49, megahertz, 50'000, 50'200));
  EXPECT_TRUE(may_have_counted(51, megahertz, 50'000, 50'200));
  EXPECT_FALSE(may_have_counted(54, megahertz, 50'000, 50'200));
}

// Readings of both clocks, each within a span of CLOCK_MONOTONIC.
struct Reading {
  std::uint64_t before;
  Ticks ticks;
  std::uint64_t after;
};
Reading read(const Clock& clock) {
  const std::uint64_t before = nanoseconds_of(CLOCK_MONOTONIC);
  const Ticks ticks = clock.now();
  return {before, ticks, nanoseconds_of(CLOCK_MONOTONIC)};
}
Reading read_after(const Clock& clock, std::uint64_t nanoseconds) {
  const std::uint64_t began = nanoseconds_of(CLOCK_MONOTONIC);
  while (nanoseconds_of(CLOCK_MONOTONIC) - began < nanoseconds) {
  }
  return read(clock);
}

TEST(ClockOfTheRecorder, HasTheSameRateLater) {
  for (const Clock clock : {Clock(), Clock(ClockSource::monotonic)}) {
    const TickScale scale(clock);
    const Reading begin = read_after(clock, 5 * millisecond);
    const double nanoseconds_per_tick = scale.nanoseconds_per_tick();
    const Reading end = read_after(clock, 5 * millisecond);
    EXPECT_TRUE(may_have_counted((end.ticks - begin.ticks).count,
                                 static_cast<std::uint64_t>(1e9 / nanoseconds_per_tick), end.before - begin.after,
                                 end.after - begin.before));
  }
}

#if defined(__aarch64__)
TEST(ClockOfTheRecorder, IsTheGenericTimerAtTheRateThatItClaims) {
  const Clock clock;
  ASSERT_EQ(clock.source(), ClockSource::generic_timer);
  const Reading begin = read(clock);
  const Reading end = read_after(clock, 5 * millisecond);
  EXPECT_TRUE(may_have_counted((end.ticks - begin.ticks).count, claimed_rate(), end.before - begin.after,
                               end.after - begin.before));
}
#endif

}  // namespace
