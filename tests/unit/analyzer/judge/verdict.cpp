#include "analyzer/judge/verdict.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon;

// The paper, section 3: "the probabilities at interference magnitudes of 7.5%, 11.25%, and 15% are 0.21, 0.5, and
// 0.79".
TEST(ProbabilityHigh, HasTheValuesOfTheSeed) {
  EXPECT_NEAR(probability_high(7.5), 0.21, 0.005);
  EXPECT_DOUBLE_EQ(probability_high(11.25), 0.5);
  EXPECT_NEAR(probability_high(15.0), 0.79, 0.005);
  EXPECT_NEAR(probability_high(0.0), 0.0191, 0.0001);
  EXPECT_NEAR(probability_high(100.0), 1.0, 1e-12);
}

TEST(Verdict, IsGreenBelowAndRedAboveTheYellowClass) {
  EXPECT_EQ(verdict_of(0.0), Verdict::green);
  EXPECT_EQ(verdict_of(7.4999), Verdict::green);
  EXPECT_EQ(verdict_of(7.5), Verdict::yellow);
  EXPECT_EQ(verdict_of(15.0), Verdict::yellow);
  EXPECT_EQ(verdict_of(15.001), Verdict::red);
}

TEST(Verdict, IsUnknownWhereTheOppositeMayBeTrue) {
  EXPECT_EQ(verdict_within(5.0, {1.0, 15.0}), Verdict::green);
  EXPECT_EQ(verdict_within(5.0, {1.0, 15.1}), Verdict::unknown);
  EXPECT_EQ(verdict_within(20.0, {7.5, 60.0}), Verdict::red);
  EXPECT_EQ(verdict_within(20.0, {7.4, 60.0}), Verdict::unknown);
}

TEST(Verdict, StaysYellowAsLongAsThatIsMostProbable) {
  EXPECT_EQ(verdict_within(10.0, {3.7, 20.0}), Verdict::yellow);
  EXPECT_EQ(verdict_within(8.0, {7.0, 60.0}), Verdict::unknown);  // it may be anything above
  EXPECT_EQ(verdict_within(14.0, {0.0, 40.0}), Verdict::unknown);
  EXPECT_EQ(verdict_within(10.0, {10.0, 10.0}), Verdict::yellow);
}

}  // namespace
