#include "tests/truth/truth.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "analyzer/groups/grouping.hpp"

namespace {

using namespace halcyon;

double total(const Profile& profile) { return std::accumulate(profile.duration.begin(), profile.duration.end(), 0.0); }

TEST(TruthGenerator, AddsAboutAsMuchAsIsAimedAt) {
  const truth::Truth truth = truth::make_truth({.segments = 20000, .hits = 1.0, .slowdown = 0.3});
  EXPECT_NEAR(truth.interference_percent, 30.0, 1.0);
  EXPECT_NEAR(truth.excess_seconds, total(truth.profile) - 20000 * 2e-2, 0.2);
}

TEST(TruthGenerator, DisturbsNothingUnlessAsked) {
  const truth::Truth truth =
      truth::make_truth({.segments = 100, .jitter_law = truth::JitterLaw::gamma, .jitter = 0.05});
  EXPECT_EQ(truth.interference_percent, 0.0);
  EXPECT_NEAR(total(truth.profile), 2.0, 0.04);
}

TEST(TruthGenerator, RepeatsARunByItsSeed) {
  const truth::Run run{.segments = 500, .hits = 0.5, .slowdown = 0.2, .seed = 9};
  EXPECT_EQ(truth::make_truth(run).profile.duration, truth::make_truth(run).profile.duration);
  truth::Run other = run;
  other.seed = 10;
  EXPECT_NE(truth::make_truth(run).profile.duration, truth::make_truth(other).profile.duration);
}

// Delays on different ranks overlap, so that a segment loses the longest of them only.
TEST(TruthGenerator, LosesWhatOverlapsOnDifferentRanks) {
  truth::Run run{.segments = 5000, .delay_law = truth::DelayLaw::normal, .hits = 8.0, .slowdown = 0.4};
  const double on_one = truth::make_truth(run).interference_percent;
  run.ranks = 64;
  EXPECT_LT(truth::make_truth(run).interference_percent, 0.6 * on_one);
}

TEST(TruthGenerator, LeavesTheTimeBetweenBurstsAlone) {
  const truth::Truth truth =
      truth::make_truth({.segments = 4000, .hits = 2.0, .slowdown = 0.3, .exposed = 0.25, .burst_segments = 100});
  const auto untouched = std::count(truth.profile.duration.begin(), truth.profile.duration.end(), 2e-2F);
  EXPECT_NEAR(static_cast<double>(untouched), 3000.0, 120.0);
}

TEST(TruthGenerator, MakesAGroupOfEveryPhase) {
  const truth::Truth truth = truth::make_truth({.segments = 900, .phases = {{2, 1e-3}, {1, 5e-3}}});
  const Grouping grouping = group_segments(truth.profile);
  ASSERT_EQ(grouping.groups.count, 2u);
  EXPECT_EQ(grouping.members(0).size() + grouping.members(1).size(), 900u);
  EXPECT_EQ(std::min(grouping.members(0).size(), grouping.members(1).size()), 300u);
}

}  // namespace
