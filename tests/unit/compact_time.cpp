#include "libprofile/record/compact_time.hpp"

#include <gtest/gtest.h>

namespace {

using halcyon::CompactTime;

TEST(CompactTime, IsExactForShortTimes) {
  for (std::uint64_t ticks = 0; ticks < 4096; ++ticks) ASSERT_EQ(CompactTime::of(ticks).ticks(), ticks);
}

TEST(CompactTime, KeepsTwelveBinaryDigitsOfLongTimes) {
  for (std::uint64_t ticks = 4096; ticks < (std::uint64_t{1} << 41); ticks = ticks * 5 / 4 + 3) {
    const double error =
        std::abs(static_cast<double>(CompactTime::of(ticks).ticks()) / static_cast<double>(ticks) - 1.0);
    ASSERT_LE(error, 1.0 / 4096.0) << ticks;
  }
}

TEST(CompactTime, SaturatesBeyondItsRange) {
  const std::uint64_t largest = CompactTime::of(~std::uint64_t{0}).ticks();
  EXPECT_GE(largest, (std::uint64_t{1} << 42) - (std::uint64_t{1} << 31));
  EXPECT_EQ(CompactTime::of(std::uint64_t{1} << 50).ticks(), largest);
}

}  // namespace
