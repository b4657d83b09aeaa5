#include "analyzer/judge/analysis.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

// 100 segments of 1 s, ten of which take 2 s: MAD 0, so that all of the second second is excess: 10 of 110 s.
Profile disturbed_profile() {
  Profile profile = uniform_profile(100, 1.0);
  for (std::size_t i = 0; i < 100; i += 10) profile.duration[i] = 2.0F;
  profile.run_time_seconds = 110.0;
  return profile;
}

TEST(Analysis, GivesTheExcessInPercentOfTheDisturbedRunTime) {
  const Analysis analysis = analyze(disturbed_profile(), "paper");
  EXPECT_NEAR(analysis.result().interference_percent, 100.0 * 10.0 / 110.0, 1e-9);
  EXPECT_NEAR(analysis.undisturbed_time_seconds(), 100.0, 1e-9);
  EXPECT_EQ(analysis.result().verdict, Verdict::yellow);
  EXPECT_DOUBLE_EQ(analysis.coverage_percent, 100.0);
  EXPECT_LT(analysis.result().interval_percent.low, analysis.result().interference_percent);
  EXPECT_GT(analysis.result().interval_percent.high, analysis.result().interference_percent);
}

TEST(Analysis, RunsEveryMethodAndLetsTheChosenOneSpeak) {
  const Analysis analysis = analyze(disturbed_profile(), "paper");
  ASSERT_EQ(analysis.methods.size(), methods.size());
  EXPECT_EQ(analysis.result().name, "paper");
}

// The delta method's interval of a mean of n independent 0/1 delays: half width t · sqrt(n p (1 - p)) d / T to first
// order.
TEST(Analysis, HasAnIntervalThatFollowsFromTheSamplingError) {
  const Analysis analysis = analyze(disturbed_profile(), "paper");
  const double f = 10.0 / 110.0;
  // residuals: 90 of -f, 10 of 1 - 2 f; their mean is 0 to first order
  const double s2 = (90.0 * f * f + 10.0 * (1.0 - 2.0 * f) * (1.0 - 2.0 * f)) / 99.0;
  const double half = 100.0 * 1.6604 * std::sqrt(100.0 * s2) / 110.0;
  EXPECT_NEAR(analysis.result().interval_percent.high - analysis.result().interference_percent, half, 0.01);
}

TEST(Analysis, IsUnknownWithoutBoundaries) {
  const Analysis analysis = analyze(uniform_profile(1, 5.0), "paper");
  EXPECT_EQ(analysis.result().verdict, Verdict::unknown);
  EXPECT_EQ(analysis.no_verdict->reason.code, "no-boundaries");
}

TEST(Analysis, SaysThatSegmentsAreMissingWhereTheyWereNotSaved) {
  Profile profile = uniform_profile(0, 5.0);
  profile.exit_state = "killed";
  profile.incomplete = "block 0 of rank 1 is damaged";
  const Analysis analysis = analyze(profile, "paper");
  EXPECT_EQ(analysis.no_verdict->reason.code, "no-segments");
  EXPECT_NE(analysis.no_verdict->reason.message.find(profile.incomplete), std::string::npos);
}

TEST(Analysis, SaysWhichBoundariesWereLookedFor) {
  const auto why = [](const Profile& profile) { return analyze(profile, "paper").no_verdict->reason.message; };
  Profile profile = uniform_profile(1, 5.0);
  EXPECT_NE(why(profile).find("it called no all-to-all collective over all ranks"), std::string::npos);
  profile.totals[index_of(Feature::collectives_all_to_all)] = {0, 3};
  EXPECT_NE(why(profile).find("covered fewer ranks than the whole world"), std::string::npos);
  profile.boundary = "rooted";
  EXPECT_NE(why(profile).find("no reduce or gather"), std::string::npos);
  profile.boundary = "pcontrol";
  EXPECT_NE(why(profile).find("no MPI_Pcontrol(1)"), std::string::npos);
}

TEST(Analysis, IsUnknownWhereLittleOfTheRunRepeats) {
  Profile profile = uniform_profile(100, 1.0);
  profile.run_time_seconds = 500.0;
  const Analysis analysis = analyze(profile, "paper");
  EXPECT_EQ(analysis.no_verdict->reason.code, "low-coverage");
  EXPECT_NEAR(analysis.coverage_percent, 20.0, 1e-9);
}

TEST(Analysis, IsUnknownWithTooFewSegments) {
  EXPECT_EQ(analyze(uniform_profile(29, 1.0), "paper").no_verdict->reason.code, "too-few-segments");
  EXPECT_FALSE(analyze(uniform_profile(30, 1.0), "paper").no_verdict);
}

TEST(Analysis, IsUnknownWhereRanksDisagree) {
  Profile profile = uniform_profile(0, 1.0);
  profile.disagreement = "rank 1 passed 3 boundaries, rank 0 passed 4";
  EXPECT_EQ(analyze(profile, "paper").no_verdict->reason.code, "boundary-disagreement");
}

TEST(Analysis, DoesNotJudgeGroupsOfFewerThanFive) {
  Profile profile = uniform_profile(40, 1.0);
  column(profile, Feature::writes) = {{0.0, 1.0}, std::vector<std::uint16_t>(40, 0)};
  for (std::size_t i = 0; i < 4; ++i) column(profile, Feature::writes).index[i] = 1;
  const Analysis analysis = analyze(profile, "paper");
  EXPECT_EQ(analysis.judged_segments, 36u);
  EXPECT_NEAR(analysis.coverage_percent, 90.0, 1e-6);
}

TEST(Analysis, WarnsOfABoundaryRateAtWhichRecordingCosts) {
  Profile profile = uniform_profile(200000, 1e-5);  // 100 kHz
  profile.boundary_cost_seconds = 1e-7;             // 1 % of the run time
  const Analysis analysis = analyze(profile, "paper");
  ASSERT_EQ(analysis.warnings.size(), 1u);
  EXPECT_EQ(analysis.warnings.front().code, "boundary-rate");
  profile.boundary_cost_seconds = 1e-9;
  EXPECT_TRUE(analyze(profile, "paper").warnings.empty());
}

TEST(Analysis, SaysNothingOfARunThatASingleTimeSliceWouldDecide) {
  const Analysis analysis = analyze(uniform_profile(100, 0.0005), "paper");
  ASSERT_TRUE(analysis.no_verdict);
  EXPECT_EQ(analysis.no_verdict->reason.code, "too-short");
  EXPECT_EQ(analysis.result().verdict, Verdict::unknown);
}

TEST(Analysis, JudgesShortRuns) {
  EXPECT_EQ(analyze(uniform_profile(60, 0.005), "compound").result().verdict, Verdict::green);
}

TEST(Analysis, GivesTheUndisturbedTimeTheIntervalOfTheInterference) {
  Profile profile = uniform_profile(1000, 0.010);
  for (std::size_t i = 0; i < 1000; i += 10) profile.duration[i] = 0.030F;
  profile.run_time_seconds = 12.0;
  const Analysis analysis = analyze(profile, "paper");
  const Interval percent = analysis.result().interval_percent;
  const Interval interval = analysis.undisturbed_interval_seconds();
  EXPECT_NEAR(interval.low, 12.0 * (1.0 - percent.high / 100.0), 1e-9);
  EXPECT_NEAR(interval.high, 12.0 * (1.0 - percent.low / 100.0), 1e-9);
  EXPECT_LT(interval.low, analysis.undisturbed_time_seconds());
  EXPECT_GT(interval.high, analysis.undisturbed_time_seconds());
}

TEST(Analysis, SaysThatAComposedProfileIsNoSingleRun) {
  Profile profile = uniform_profile(100, 1.0);
  profile.exit_state = "composed";
  profile.composed_of = {"a.h5", "b.h5"};
  const Analysis analysis = analyze(profile, "paper");
  ASSERT_EQ(analysis.warnings.size(), 1u);
  EXPECT_EQ(analysis.warnings.front().code, "composed");
  EXPECT_NE(analysis.warnings.front().message.find("a.h5, b.h5"), std::string::npos);
  EXPECT_EQ(analysis.result().verdict, Verdict::unknown);
  EXPECT_TRUE(analysis.is_comparable());
}

TEST(Analysis, SumsTheCriticalPathOfWhatWasInjected) {
  Profile profile = uniform_profile(100, 1.0);
  EXPECT_FALSE(analyze(profile, "paper").injected_percent);
  profile.injected.critical.assign(100, 0.1F);
  EXPECT_NEAR(*analyze(profile, "paper").injected_percent, 10.0, 1e-5);
}

}  // namespace
