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

}  // namespace
