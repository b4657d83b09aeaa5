// Things that are not known are drawn together.
#include "analyzer/judge/draws.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace halcyon;

constexpr Interval anywhere{0.0, 1000.0};
constexpr double tolerance = 0.1;

Interval drawn(double estimate, const Interval& likely, const Interval& possible,
               const std::vector<Addend>& addends = {}) {
  return interval_of_draws(estimate, likely, possible, addends);
}

TEST(Draws, OfOneValueHaveItsInterval) {
  const Interval interval = drawn(10.0, {6.0, 30.0}, anywhere);
  EXPECT_NEAR(interval.low, 6.0, tolerance);
  EXPECT_NEAR(interval.high, 30.0, tolerance);
}

TEST(Draws, StayWithinWhatIsPossible) {
  const Interval interval = drawn(10.0, {6.0, 30.0}, {8.0, 12.0});
  EXPECT_DOUBLE_EQ(interval.low, 6.0 + 2.0);
  EXPECT_DOUBLE_EQ(interval.high, 12.0);
}

TEST(Draws, OfAddendsAreWithinTheSumOfTheirEnds) {
  const Interval interval = drawn(10.0, {8.0, 12.0}, anywhere, {{{0.0, 4.0}}, {{0.0, 4.0}}});
  EXPECT_LT(interval.high, 12.0 + 4.0 + 4.0 - 1.0);
  EXPECT_GT(interval.high, 12.0 + 4.0);
  EXPECT_NEAR(interval.low, 8.0, tolerance);  // both may be nothing
}

TEST(Draws, OfAllOrNothingHaveBothEnds) {
  const Interval interval = drawn(10.0, {10.0, 10.0}, anywhere, {{{0.0, 5.0}, true}});
  EXPECT_DOUBLE_EQ(interval.low, 10.0);
  EXPECT_DOUBLE_EQ(interval.high, 15.0);
}

TEST(Draws, GoDownWhereLessMayBeTrue) {
  EXPECT_NEAR(drawn(10.0, {10.0, 10.0}, anywhere, {{{-4.0, 4.0}}}).low, 10.0 - 0.9 * 4.0, tolerance);
}

}  // namespace
