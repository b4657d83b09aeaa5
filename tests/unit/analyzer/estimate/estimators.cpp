#include "analyzer/estimate/estimators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include "analyzer/estimate/baselines.hpp"
#include "analyzer/estimate/surely_lost.hpp"
#include "analyzer/statistics/durations.hpp"
#include "analyzer/statistics/median.hpp"

namespace {

using namespace halcyon;

Durations of(std::initializer_list<double> values) {
  Durations durations(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), durations.data());
  return durations;
}

// One judged group of a run.
JudgedDurations run_of(const std::vector<float>& durations) {
  JudgedDurations run{.run_time = std::accumulate(durations.begin(), durations.end(), 0.0)};
  add_group(run, {.durations = durations});
  return run;
}

RunEstimate estimate(std::string_view method, const std::vector<float>& durations) {
  for (const Method& one : methods) {
    if (one.name == method) return one.estimate(run_of(durations), Detail::segments);
  }
  throw std::logic_error("no such method");
}

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwo) {
  EXPECT_EQ(median(of({3, 1, 2})), 2.0);
  EXPECT_EQ(median(of({4, 1, 3, 2})), 2.5);
  EXPECT_EQ(median(of({7})), 7.0);
}

TEST(Median, OfAscendingValuesIsTheSame) {
  EXPECT_EQ(median_of_ascending(std::vector<float>{1, 2, 3}), 2.0);
  EXPECT_EQ(median_of_ascending(std::vector<float>{1, 2, 3, 4}), 2.5);
  EXPECT_EQ(median_of_ascending(std::vector<float>{7}), 7.0);
}

// m = 10, |x - m| = 1 0 1 0 2 10 0 -> MAD 1, t = 14: only 20 is above, by 6.
TEST(Paper, CountsWhatIsBeyondFourMadAboveTheMedian) {
  const RunEstimate run = estimate("paper", {9, 10, 11, 10, 12, 20, 10});
  EXPECT_EQ(run.groups.front().baseline, 10.0);
  EXPECT_EQ(run.groups.front().threshold, 14.0);
  EXPECT_EQ(run.groups.front().excess_seconds, 6.0);
  EXPECT_EQ(run.excess, (std::vector<float>{0, 0, 0, 0, 0, 6, 0}));
}

TEST(Paper, TakesTheMedianDeviationOfBothSides) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<float> law(0.0F, 0.5F);
  for (std::size_t size = 1; size < 40; ++size) {
    std::vector<float> values(size);
    for (float& value : values) value = law(random);
    std::sort(values.begin(), values.end());
    const Durations all = Eigen::Map<Eigen::ArrayXf>(values.data(), static_cast<Eigen::Index>(size)).cast<double>();
    const double middle = median(all);
    EXPECT_EQ(baseline_paper(values).threshold, middle + 4.0 * median((all - middle).abs()));
  }
}

TEST(Paper, LeavesASegmentAtTheThresholdAlone) {
  EXPECT_EQ(estimate("paper", {9, 10, 11, 10, 12, 14, 10}).groups.front().excess_seconds, 0.0);
}

TEST(Paper, SeesNothingWhereEverySegmentIsDelayedAlike) {
  EXPECT_EQ(estimate("paper", {20, 20, 20, 20, 20}).groups.front().excess_seconds, 0.0);
}

TEST(Methods, GiveEachSegmentItsExcessOnlyIfAsked) {
  const std::vector<float> durations{10, 10, 10, 10, 13, 14, 15, 16, 17, 18, 19, 20};
  for (const Method& method : methods) {
    const RunEstimate all = method.estimate(run_of(durations), Detail::segments);
    ASSERT_EQ(all.excess.size(), durations.size()) << method.name;
    EXPECT_NEAR(std::accumulate(all.excess.begin(), all.excess.end(), 0.0), all.groups.front().excess_seconds, 1e-5)
        << method.name;
    const RunEstimate few = method.estimate(run_of(durations), Detail::groups);
    EXPECT_TRUE(few.excess.empty()) << method.name;
    EXPECT_EQ(few.groups.front().excess_seconds, all.groups.front().excess_seconds) << method.name;
  }
}

// One group of ten segments of 1 s each, in which a thread of one rank worked for 0.8 s.
TEST(Needed, TimeIsNotLost) {
  const std::vector<float> durations(10, 1.0F);
  const std::vector<float> work(10, 0.3e9F);
  const std::vector<float> largest_work(10, 0.8e9F);
  JudgedDurations run{.run_time = 10.0, .work_is_time = true};
  add_group(run, {.durations = durations, .work = work, .largest_work = largest_work});
  const std::vector<double> needed = needed_seconds(run);
  ASSERT_EQ(needed.size(), 1u);
  EXPECT_NEAR(needed.front(), 8.0, 1e-6);
  RunEstimate estimate;
  estimate.groups = {{.baseline = 0.5, .threshold = 0.6, .excess_seconds = 5.0, .continuous_seconds = 4.0}};
  estimate.excess.assign(10, 0.5F);
  leave_what_is_needed(estimate, run, needed);
  EXPECT_NEAR(estimate.groups.front().excess_seconds, 2.0, 1e-6);
  EXPECT_NEAR(estimate.groups.front().continuous_seconds, 1.6, 1e-6);
  EXPECT_NEAR(estimate.groups.front().baseline, 0.8, 1e-6);
  EXPECT_NEAR(static_cast<double>(estimate.excess.front()), 0.2, 1e-6);
  run.work_is_time = false;  // a hardware counter does not tell how long work takes
  EXPECT_EQ(needed_seconds(run), std::vector<double>{0.0});
}

TEST(Excess, OfASegmentIsNoMoreThanItTook) {
  const std::vector<float> durations{1.0F, 1.0F, 2.0F};
  JudgedDurations run{.run_time = 4.0};
  add_group(run, {.durations = durations});
  RunEstimate estimate;
  estimate.groups.resize(1);
  estimate.excess = {1.5F, 0.5F, 1.0F};
  keep_within_durations(estimate, run);
  // The half second has room in the other two, where half a second and one are not lost yet.
  EXPECT_NEAR(static_cast<double>(estimate.excess[0]), 1.0, 1e-6);
  EXPECT_NEAR(static_cast<double>(estimate.excess[1]), 0.5 + 0.5 / 3.0, 1e-6);
  EXPECT_NEAR(static_cast<double>(estimate.excess[2]), 1.0 + 1.0 / 3.0, 1e-6);
}

}  // namespace
