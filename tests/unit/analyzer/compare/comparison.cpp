#include "analyzer/compare/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

std::vector<std::pair<std::uint32_t, std::uint32_t>> matches(const Profile& a, const Profile& b) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
  for (const GroupPair& pair : match_groups({a, group_segments(a)}, {b, group_segments(b)})) {
    result.emplace_back(pair.a, pair.b);
  }
  return result;
}

std::uint32_t group_of(const Profile& profile, std::size_t segment) {
  return group_segments(profile).groups.of[segment];
}

double displacement(const Profile& a, const Profile& b) {
  const Grouping groups_a = group_segments(a);
  const Grouping groups_b = group_segments(b);
  return median_displacement_seconds({a, groups_a}, {b, groups_b}, match_groups({a, groups_a}, {b, groups_b}));
}

/// Two kinds of work by turns: even segments compute `light`, odd ones `heavy`.
Profile two_kinds(std::size_t segments, double light, double heavy) {
  Profile profile = uniform_profile(segments, 1.0);
  column(profile, Feature::compute).bins = {light, heavy};
  for (std::size_t i = 0; i < segments; ++i) {
    column(profile, Feature::compute).index.push_back(static_cast<std::uint16_t>(i % 2));
  }
  return profile;
}

TEST(MatchedGroups, AreThoseOfTheSameValuesWhateverTheirBins) {
  Profile a = uniform_profile(20, 1.0);
  column(a, Feature::writes) = {{0.0, 3.0}, {}};
  Profile b = a;
  column(b, Feature::writes).bins = {3.0, 7.0, 0.0};
  for (std::uint16_t i = 0; i < 20; ++i) {
    column(a, Feature::writes).index.push_back(i % 2);
    column(b, Feature::writes).index.push_back(i % 2 == 0 ? 2 : 0);
  }
  const auto pairs = matches(a, b);
  ASSERT_EQ(pairs.size(), 2u);
  for (const std::size_t segment : {0u, 1u}) {
    const std::pair expected(group_of(a, segment), group_of(b, segment));
    EXPECT_EQ(std::count(pairs.begin(), pairs.end(), expected), 1) << segment;
  }
}

TEST(MatchedGroups, HaveTheSameTextOfTheirCallSiteWhateverItsNumber) {
  Profile a = uniform_profile(20, 1.0);
  a.sites = {"allreduce@app+0x10", "barrier@app+0x20"};
  a.site.assign(20, 0);
  Profile b = a;
  b.sites = {"barrier@app+0x20", "allreduce@app+0x10"};
  EXPECT_TRUE(matches(a, b).empty());
  b.site.assign(20, 1);
  EXPECT_EQ(matches(a, b).size(), 1u);
}

TEST(MatchedGroups, HaveTheSameCounts) {
  Profile a = uniform_profile(20, 1.0);
  Profile b = a;
  column(b, Feature::sends_blocking).bins = {1.0};
  EXPECT_TRUE(matches(a, b).empty());
}

TEST(MatchedGroups, HaveVolumesAlikeByRelativeDistance) {
  Profile a = uniform_profile(20, 1.0);
  column(a, Feature::bytes_sent).bins = {1000.0};
  Profile b = a;
  column(b, Feature::bytes_sent).bins = {1090.0};
  EXPECT_EQ(matches(a, b).size(), 1u);
  column(b, Feature::bytes_sent).bins = {1110.0};
  EXPECT_TRUE(matches(a, b).empty());
}

TEST(MatchedGroups, AreAlikeInWorkThatAHardwareCounterMeasured) {
  Profile a = two_kinds(20, 1000.0, 3000.0);
  a.counter = "papi:PAPI_TOT_INS";
  Profile b = two_kinds(20, 1000.0, 4000.0);
  b.counter = a.counter;
  EXPECT_EQ(matches(a, b), (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}}));
}

TEST(MatchedGroups, MatchThoughADisturbedRunsCpuTimeGrew) {
  EXPECT_EQ(matches(two_kinds(20, 1e6, 3e6), two_kinds(20, 1.4e6, 4.2e6)),
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {1, 1}}));
}

// Alone, the light work of the slow run is nearer to the heavy work of the fast one than to its own.
TEST(MatchedGroups, MatchByTheSpeedThatAllWorkHasInCommon) {
  EXPECT_EQ(matches(two_kinds(20, 1.62e6, 5.22e6), two_kinds(20, 0.9e6, 2.9e6)),
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {1, 1}}));
  EXPECT_EQ(matches(two_kinds(20, 0.9e6, 2.9e6), two_kinds(20, 1.62e6, 5.22e6)),
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {1, 1}}));
}

TEST(MatchedGroups, OfCpuTimeAreNotMoreThanTwiceApart) {
  EXPECT_EQ(matches(two_kinds(20, 1e6, 3e6), two_kinds(20, 1.1e6, 6.1e6)),
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}}));
}

TEST(MatchedGroups, OfShortCpuTimesMayDifferByWhatColdCachesCost) {
  EXPECT_EQ(matches(two_kinds(20, 500.0, 3e6), two_kinds(20, 2000.0, 3e6)).size(), 2u);
}

TEST(MatchedGroups, AreNotTakenFromALargeGroupByAFewStraySegments) {
  Profile a = uniform_profile(100, 1.0);
  column(a, Feature::compute).bins = {1000.0};
  Profile b = uniform_profile(100, 1.0);
  column(b, Feature::compute) = {{1000.0, 1300.0}, std::vector<std::uint16_t>(100, 1)};
  for (std::size_t i = 0; i < 5; ++i) column(b, Feature::compute).index[i] = 0;
  EXPECT_EQ(matches(a, b), (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, group_of(b, 50)}}));
}

TEST(MatchedGroups, OfRunsWithoutSegmentsAreNone) {
  EXPECT_TRUE(matches(uniform_profile(0, 1.0), uniform_profile(0, 1.0)).empty());
}

TEST(MedianDisplacement, IsWhatTheMediansMovedTimesTheSegmentsOfTheFirstRun) {
  Profile slow = uniform_profile(100, 1.25);
  slow.duration[0] = 9.0F;  // a delay does not move the median
  EXPECT_DOUBLE_EQ(displacement(slow, uniform_profile(50, 1.0)), 25.0);
  EXPECT_DOUBLE_EQ(displacement(uniform_profile(50, 1.0), slow), -12.5);
}

TEST(MedianDisplacement, IsOfJudgedGroupsOnly) {
  EXPECT_EQ(displacement(uniform_profile(4, 2.0), uniform_profile(50, 1.0)), 0.0);
  EXPECT_EQ(displacement(uniform_profile(50, 2.0), uniform_profile(4, 1.0)), 0.0);
}

// Reference: the example of ci.median2 in the R package statpsych, of D. G. Bonett: -8.85 with standard error 4.494993.
TEST(MedianDisplacement, HasTheIntervalOfPriceAndBonett) {
  Profile a = uniform_profile(10, 1.0);
  a.duration = {32.1F, 39.8F, 26.3F, 35.0F, 43.1F, 27.0F, 40.9F, 37.4F, 34.0F, 29.2F};
  Profile b = a;
  b.duration = {36.8F, 44.0F, 47.1F, 42.7F, 49.0F, 39.6F, 46.2F, 31.6F, 33.1F, 48.4F};
  a.run_time_seconds = b.run_time_seconds = 420.0;
  const Comparison comparison = compare(a, b);
  ASSERT_EQ(comparison.groups.size(), 1u);
  EXPECT_NEAR(comparison.displacement_seconds, 10.0 * -8.85, 1e-4);
  const double half = 10.0 * 1.644854 * 4.494993;
  EXPECT_NEAR(comparison.displacement_interval_seconds.low, -88.5 - half, 1e-3);
  EXPECT_NEAR(comparison.groups[0].displacement_interval_seconds.high, -88.5 + half, 1e-3);
}

// 100 segments that vary a little, so that medians have an error.
Profile run_taking(double seconds) {
  Profile profile = uniform_profile(100, seconds);
  profile.run_time_seconds = 0.0;
  for (std::size_t i = 0; i < 100; ++i) {
    profile.duration[i] = static_cast<float>(seconds * (1.0 + 0.001 * static_cast<double>(i % 10)));
    profile.run_time_seconds += static_cast<double>(profile.duration[i]);
  }
  return profile;
}

TEST(Comparison, OfARunWithItselfFindsTheSameWorkAndNoDifference) {
  const Comparison comparison = compare(run_taking(1.0), run_taking(1.0));
  EXPECT_FALSE(comparison.difference);
  EXPECT_DOUBLE_EQ(comparison.a.shared_percent, 100.0);
  EXPECT_NEAR(comparison.a.matched_percent, 100.0, 1e-9);
  EXPECT_EQ(comparison.displacement_seconds, 0.0);
  EXPECT_EQ(comparison.more_disturbed(), nullptr);
}

TEST(Comparison, SeesADelayOfEverySegmentThatOneRunCannotSee) {
  const Comparison comparison = compare(run_taking(1.2), run_taking(1.0));
  EXPECT_LT(comparison.a.analysis.result().interference_percent, 0.1);
  EXPECT_EQ(comparison.more_disturbed(), &comparison.a);
  EXPECT_NEAR(comparison.displacement_seconds, 20.0, 0.1);
  EXPECT_NEAR(comparison.a.disturbed_percent(), 100.0 / 6.0, 0.1);
  EXPECT_NEAR(comparison.b.disturbed_seconds(), 0.0, 0.1);
  const Comparison turned = compare(run_taking(1.0), run_taking(1.2));
  EXPECT_EQ(turned.more_disturbed(), &turned.b);
}

TEST(Comparison, NamesTheMoreDisturbedRunIfTheOthersIntervalIsTooWideForAVerdictOnly) {
  const Profile slow = run_taking(1.2);
  const Profile quick = run_taking(1.0);
  JudgedRun wide = judge(quick);
  MethodResult& result = wide.analysis.methods[wide.analysis.chosen];
  result.verdict = Verdict::unknown;
  wide.analysis.no_verdict = no_verdict_within(result.interval_percent = {0.0, 15.0});
  const Comparison comparison = compare(judge(slow), wide);
  EXPECT_EQ(comparison.more_disturbed(), &comparison.a);
  EXPECT_LT(comparison.more_disturbed_interval_seconds.low, 6.0);  // 15 s of b, and 20 s between them
}

TEST(Comparison, AddsARunsOwnExcessToTheRiseOfItsBaselines) {
  Profile slow = run_taking(1.2);
  slow.duration[50] += 30.0F;
  slow.run_time_seconds += 30.0;
  const Comparison comparison = compare(slow, run_taking(1.0));
  EXPECT_NEAR(comparison.a.baseline_rise_seconds, 20.0, 0.2);
  EXPECT_NEAR(comparison.a.disturbed_seconds(), 50.0, 0.2);
}

TEST(Comparison, OfOtherRanksOrCountersOrWithoutBoundariesIsRefused) {
  Profile other = run_taking(1.0);
  other.ranks = 4;
  EXPECT_EQ(compare(run_taking(1.0), other).difference->code, "other-ranks");
  EXPECT_EQ(compare(run_taking(1.0), other).difference->in_b, "4");
  other = run_taking(1.0);
  other.counter = "papi:PAPI_TOT_INS";
  EXPECT_EQ(compare(run_taking(1.0), other).difference->code, "other-counter");
  EXPECT_EQ(compare(run_taking(1.0), uniform_profile(1, 1.0)).difference->code, "no-boundaries");
}

TEST(Comparison, NamesTheFirstSegmentWhoseCallsDiffer) {
  Profile other = run_taking(1.0);
  column(other, Feature::writes) = {{0.0, 2.0}, std::vector<std::uint16_t>(100, 0)};
  for (std::size_t i = 30; i < 100; ++i) column(other, Feature::writes).index[i] = 1;
  const Comparison comparison = compare(run_taking(1.0), other);
  ASSERT_TRUE(comparison.difference);
  EXPECT_EQ(comparison.difference->code, "other-calls");
  EXPECT_EQ(comparison.difference->what, "segment 31 of the run");
  EXPECT_EQ(comparison.difference->in_a, "writes 0");
  EXPECT_EQ(comparison.difference->in_b, "writes 2");
  EXPECT_TRUE(comparison.groups.empty());
}

TEST(Comparison, OfRunsOfDifferentLengthIsRefused) {
  const Comparison comparison = compare(run_taking(1.0), uniform_profile(80, 1.0));
  ASSERT_TRUE(comparison.difference);
  EXPECT_EQ(comparison.difference->what, "segments");
  EXPECT_EQ(comparison.difference->in_b, "80");
}

TEST(Comparison, AllowsASolverAStepMore) {
  EXPECT_FALSE(compare(run_taking(1.0), uniform_profile(95, 1.0)).difference);
}

TEST(Comparison, OfTheSameCallsButOtherVolumesIsRefusedWithBoth) {
  Profile a = run_taking(1.0);
  column(a, Feature::bytes_sent).bins = {1000.0};
  Profile b = run_taking(1.0);
  column(b, Feature::bytes_sent).bins = {4000.0};
  const Comparison comparison = compare(a, b);
  ASSERT_TRUE(comparison.difference);
  EXPECT_EQ(comparison.difference->code, "other-work");
  EXPECT_EQ(comparison.difference->what, "bytes_sent of 100 segments ending at allreduce@app+0x10");
  EXPECT_EQ(comparison.difference->in_a, "1000");
  EXPECT_EQ(comparison.difference->in_b, "4000");
}

}  // namespace
