#include "analyzer/estimators.hpp"

#include <gtest/gtest.h>

namespace {

using halcyon::Durations;

Durations of(std::initializer_list<double> values) {
  Durations durations(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), durations.data());
  return durations;
}

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwo) {
  EXPECT_EQ(halcyon::median(of({3, 1, 2})), 2.0);
  EXPECT_EQ(halcyon::median(of({4, 1, 3, 2})), 2.5);
  EXPECT_EQ(halcyon::median(of({7})), 7.0);
}

// m = 10, |x - m| = 1 0 1 0 2 10 0 -> MAD 1, t = 14: only 20 is above, by 6.
TEST(Paper, CountsWhatIsBeyondFourMadAboveTheMedian) {
  const halcyon::GroupEstimate estimate = halcyon::estimate_paper(of({9, 10, 11, 10, 12, 20, 10}));
  EXPECT_EQ(estimate.baseline, 10.0);
  EXPECT_EQ(estimate.threshold, 14.0);
  EXPECT_EQ(estimate.excess.sum(), 6.0);
  EXPECT_EQ(estimate.excess[5], 6.0);
}

TEST(Paper, LeavesASegmentAtTheThresholdAlone) {
  EXPECT_EQ(halcyon::estimate_paper(of({9, 10, 11, 10, 12, 14, 10})).excess.sum(), 0.0);
}

TEST(Paper, SeesNothingWhereEverySegmentIsDelayedAlike) {
  EXPECT_EQ(halcyon::estimate_paper(of({20, 20, 20, 20, 20})).excess.sum(), 0.0);
}

// The shortest interval of 2 of 8 values is [10.02, 10.1]: b = 10.06. Left of it are 9.7, 9.9, 10.02: deviations 0.36,
// 0.16, 0.04, s = 1.4826 · 0.16 = 0.237216, t = b + 4 s = 11.008864. 11.1 and 14 are beyond; they count from b.
TEST(Mode, CountsFromTheCentreOfTheShortestQuarter) {
  const halcyon::GroupEstimate estimate = halcyon::estimate_mode(of({9.7, 9.9, 10.02, 10.1, 10.25, 10.5, 11.1, 14.0}));
  EXPECT_NEAR(estimate.baseline, 10.06, 1e-12);
  EXPECT_NEAR(estimate.threshold, 11.008864, 1e-9);
  EXPECT_NEAR(estimate.excess.sum(), 1.04 + 3.94, 1e-9);
}

TEST(Mode, SeesDelaysThatHitMostSegments) {
  const Durations durations = of({10, 10, 10, 10, 13, 14, 15, 16, 17, 18, 19, 20});
  EXPECT_EQ(halcyon::estimate_paper(durations).excess.sum(), 0.0);
  EXPECT_NEAR(halcyon::estimate_mode(durations).excess.sum(), 52.0, 1e-9);
}

}  // namespace
