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

TEST(TruthGenerator, LosesWhatDaemonsTake) {
  const truth::Truth truth = truth::make_truth(
      {.segments = 2000, .delay_law = truth::DelayLaw::normal, .daemons = {{0.01, 1e-3}, {1.0, 0.1}}});
  EXPECT_NEAR(truth.interference_percent, 20.0, 1.0);
  EXPECT_NEAR(truth.excess_seconds, total(truth.profile) - 2000 * 2e-2, 1e-3);
}

TEST(TruthGenerator, EndsASlowDownAtItsFactor) {
  const truth::Truth truth =
      truth::make_truth({.segments = 5000, .speed = {.pattern = truth::Speed::Pattern::slows_down, .factor = 1.5}});
  EXPECT_NEAR(static_cast<double>(truth.profile.duration.front()), 2e-2, 1e-6);
  EXPECT_NEAR(static_cast<double>(truth.profile.duration.back()), 3e-2, 1e-4);
  EXPECT_NEAR(truth.excess_seconds, total(truth.profile) - 5000 * 2e-2, 1e-3);
}

// The recorder takes the thread that did least, and adds up what the one that calls MPI did beyond that.
TEST(TruthGenerator, RecordsSpinningApartFromCpuTime) {
  truth::Run run{.segments = 2000,
                 .hits = 1.0,
                 .slowdown = 0.2,
                 .threads = 4,
                 .counter = truth::Counter::cpu_time,
                 .counter_noise = 0.0};
  const truth::Truth truth = truth::make_truth(run);
  EXPECT_EQ(truth.profile.features[index_of(Feature::compute)].bins.size(), 1u);
  const double spun = truth.profile.evidence[index_of(Evidence::work_beyond_least)].front();
  EXPECT_GT(spun, 0.5 * truth.excess_seconds);
  EXPECT_LT(spun, truth.excess_seconds);
  run.counter = truth::Counter::instructions;
  EXPECT_GT(truth::make_truth(run).profile.features[index_of(Feature::compute)].bins.size(), 100u);
}

TEST(TruthGenerator, CountsTheWorkOfTheRankThatHasMost) {
  const truth::Truth truth = truth::make_truth(
      {.ranks = 4, .segments = 100, .rank_spread = 0.5, .counter = truth::Counter::instructions, .counter_noise = 0.0});
  const FeatureColumn& largest = truth.profile.largest_work;
  for (std::size_t segment = 0; segment < 100; ++segment) {
    EXPECT_NEAR(1e-9 * largest.bins[largest.bin_of(segment)], static_cast<double>(truth.profile.duration[segment]),
                1e-7);
  }
  EXPECT_EQ(truth.interference_percent, 0.0);
}

TEST(TruthGenerator, VariesTheWorkOfChosenPhases) {
  const truth::Truth truth =
      truth::make_truth({.segments = 400,
                         .phases = {{1, 1e-3}, {1, 5e-3, 0.0, false}},
                         .variation = {.pattern = truth::Variation::Pattern::turns, .spread = 0.5, .period = 20}});
  for (std::size_t segment = 0; segment < 400; ++segment) {
    const bool has_more = segment % 2 == 0 && segment / 2 % 20 >= 10;
    const double usual = segment % 2 == 0 ? 1e-3 : 5e-3;
    EXPECT_NEAR(static_cast<double>(truth.profile.duration[segment]), usual * (has_more ? 1.5 : 1.0), 1e-7);
  }
}

TEST(TruthGenerator, MakesAGroupOfEveryPhase) {
  const truth::Truth truth = truth::make_truth({.segments = 900, .phases = {{2, 1e-3}, {1, 5e-3}}});
  const Grouping grouping = group_segments(truth.profile);
  ASSERT_EQ(grouping.groups.count, 2u);
  EXPECT_EQ(grouping.members(0).size() + grouping.members(1).size(), 900u);
  EXPECT_EQ(std::min(grouping.members(0).size(), grouping.members(1).size()), 300u);
}

}  // namespace
