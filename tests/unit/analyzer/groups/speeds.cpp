#include "analyzer/groups/speeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/judge/analysis.hpp"
#include "tests/truth/truth.hpp"

namespace {

using namespace halcyon;

// Segments of two kinds of work by turns, with jitter of 2 %; the machine is slow where `factor_at` says so.
template <class Factor>
Comparable run_of(std::size_t segments, Factor factor_at) {
  std::mt19937_64 random(7);
  std::normal_distribution<> jitter(1.0, 0.02);
  Comparable run{.kinds = 2};
  for (std::size_t i = 0; i < segments; ++i) {
    run.kind_of.push_back(i % 2);
    run.durations.push_back(static_cast<float>((i % 2 == 0 ? 1e-3 : 3e-3) * factor_at(i) * jitter(random)));
  }
  return run;
}

double slowest(const Speeds& speeds) { return static_cast<double>(std::ranges::max(speeds.slowness)); }

TEST(Speeds, AreSeenInTheOrderOfTime) {
  const auto is_slow = [](std::size_t i) { return (i > 300 && i < 420) || (i > 700 && i < 1103) || i > 1500; };
  const Comparable run = run_of(2000, [&](std::size_t i) { return is_slow(i) ? 1.4 : 1.0; });
  const std::optional<Speeds> speeds = find_speeds(run);
  ASSERT_TRUE(speeds.has_value());
  EXPECT_NEAR(slowest(*speeds), 1.4, 0.02);
  EXPECT_EQ(speeds->pattern, SpeedPattern::switches);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 2000; ++i) wrong += (speeds->slowness[i] > 1.0F) != is_slow(i) ? 1 : 0;
  EXPECT_LE(wrong, 6u);
}

TEST(Speeds, AreSeenWhereTheMachineIsMostlySlow) {
  const auto is_slow = [](std::size_t i) { return !((i > 300 && i < 360) || (i > 1200 && i < 1277)); };
  const std::optional<Speeds> speeds = find_speeds(run_of(2000, [&](std::size_t i) { return is_slow(i) ? 1.5 : 1.0; }));
  ASSERT_TRUE(speeds.has_value());
  EXPECT_NEAR(slowest(*speeds), 1.5, 0.03);
}

TEST(Speeds, AreSeenBeneathDelays) {
  std::mt19937_64 random(5);
  std::bernoulli_distribution strikes(0.4);
  const auto is_slow = [](std::size_t i) { return i % 130 < 47 || i % 310 > 250; };
  const std::optional<Speeds> speeds = find_speeds(
      run_of(4000, [&](std::size_t i) { return (is_slow(i) ? 1.6 : 1.0) + (strikes(random) ? 0.3 : 0.0); }));
  ASSERT_TRUE(speeds.has_value());
  EXPECT_NEAR(slowest(*speeds), 1.6, 0.15);
}

TEST(Speeds, AreNoneOfDelaysInBurstsThatSpareSomeSegments) {
  std::mt19937_64 random(6);
  std::bernoulli_distribution strikes(0.6);
  std::exponential_distribution<> delay(2.0);
  const auto in_burst = [](std::size_t i) { return (i > 300 && i < 420) || (i > 700 && i < 1103) || i > 1500; };
  const Comparable run =
      run_of(2000, [&](std::size_t i) { return 1.0 + (in_burst(i) && strikes(random) ? delay(random) : 0.0); });
  EXPECT_FALSE(find_speeds(run).has_value());
}

TEST(Speeds, ThatWanderAreFollowedWhereTheWorkIsTheSame) {
  const auto slowness = [](std::size_t i) { return 1.1 + 0.1 * std::sin(static_cast<double>(i) / 150.0); };
  const Comparable run = run_of(6000, slowness);
  const std::optional<Speeds> speeds = find_speeds(run);
  ASSERT_TRUE(speeds.has_value());
  EXPECT_EQ(speeds->pattern, SpeedPattern::wanders);
  for (std::size_t i = 200; i < 5800; i += 100) EXPECT_NEAR(speeds->slowness[i], slowness(i), 0.05) << i;
}

TEST(Speeds, OfDurationsWithoutAnyJitterAreJudged) {
  Comparable run{.kinds = 1};
  for (std::size_t i = 0; i < 6000; ++i) {
    run.kind_of.push_back(0);
    run.durations.push_back(1e-3F * (1.0F + 0.01F * static_cast<float>(i / 500)));
  }
  const std::optional<Speeds> speeds = find_speeds(run);
  ASSERT_TRUE(speeds.has_value());
  for (std::size_t i = 0; i < 6000; i += 100)
    EXPECT_NEAR(speeds->slowness[i], 1.0 + 0.01 * static_cast<double>(i / 500), 0.035) << i;  // so little is one level
}

TEST(Speeds, AreNoneOfASteadyMachine) {
  EXPECT_FALSE(find_speeds(run_of(2000, [](std::size_t) { return 1.0; })).has_value());
}

TEST(Speeds, AreNoneWhereOrderSaysNothing) {
  std::mt19937_64 random(3);
  const Comparable run =
      run_of(2000, [&](std::size_t) { return std::bernoulli_distribution(0.3)(random) ? 1.4 : 1.0; });
  EXPECT_FALSE(find_speeds(run).has_value());
}

TEST(Speeds, AreNoneWhereTheProgramItselfComesBackAtTheSameNumberOfSegments) {
  const Comparable run = run_of(2000, [](std::size_t i) { return i % 100 < 30 ? 1.4 : 1.0; });
  EXPECT_FALSE(find_speeds(run).has_value());
}

TEST(Speeds, ThatWanderMayBeTheProgramsOwn) {
  const Comparable run = run_of(2000, [](std::size_t i) {
    return 1.2 + 0.2 * std::sin(static_cast<double>(i) / 90.0 + 1e-6 * static_cast<double>(i * i));
  });
  const std::optional<Speeds> speeds = find_speeds(run);
  ASSERT_TRUE(speeds.has_value());
  EXPECT_EQ(speeds->pattern, SpeedPattern::wanders);
}

TEST(Speeds, AreNoneOfOtherWork) {
  const Comparable run = run_of(2000, [](std::size_t i) { return (i > 300 && i < 420) || i > 1500 ? 3.0 : 1.0; });
  EXPECT_FALSE(find_speeds(run).has_value());
}

TEST(Speeds, ThatChangeOnceMayBeAnotherPhase) {
  const std::optional<Speeds> speeds = find_speeds(run_of(2000, [](std::size_t i) { return i > 1200 ? 1.4 : 1.0; }));
  ASSERT_TRUE(speeds.has_value());
  EXPECT_EQ(speeds->pattern, SpeedPattern::changes_once);
}

TEST(Speeds, SayNothingOfAFewSegments) {
  EXPECT_FALSE(find_speeds(run_of(40, [](std::size_t i) { return i > 20 ? 1.4 : 1.0; })).has_value());
  EXPECT_FALSE(find_speeds({}).has_value());
}

truth::Run switching(std::vector<truth::Phase> phases) {
  truth::Run run{.segments = 4000, .jitter_law = truth::JitterLaw::normal, .jitter = 0.01, .seed = 4};
  if (!phases.empty()) run.phases = std::move(phases);
  run.counter = truth::Counter::cpu_time;
  run.speed = {.pattern = truth::Speed::Pattern::random_switching, .factor = 1.5, .dwell_seconds = 4.0};
  return run;
}

// The whole way: CPU time follows the speed, and slow segments would be taken for other work.
TEST(Speeds, OfCpuTimeAreFoundAndCountedWhereSeveralKindsOfWorkShareThem) {
  const truth::Truth truth = truth::make_truth(switching({{1, 9e-3}, {1, 11e-3}}));
  ASSERT_GT(truth.interference_percent, 5.0);
  const Analysis analysis = analyze(truth.profile, methods.front().name);
  EXPECT_NEAR(analysis.result().interference_percent, truth.interference_percent, 0.5);
  EXPECT_NEAR(analysis.result().speed_percent, truth.interference_percent, 0.5);
}

TEST(Speeds, OfCpuTimeOfOneKindOfWorkMayBeTheProgramsOwn) {
  const truth::Truth truth = truth::make_truth(switching({}));
  const Analysis analysis = analyze(truth.profile, methods.front().name);
  EXPECT_EQ(analysis.result().speed_percent, 0.0);
  EXPECT_LT(analysis.result().interval_percent.low, 1.0);
  EXPECT_GT(analysis.result().interval_percent.high, truth.interference_percent);
}

// One kind of work takes twice as long now and then, and so does its CPU time; the other does not.
TEST(Speeds, AreNoneOfOneKindOfWorkBesideOthers) {
  truth::Truth truth = truth::make_truth(switching({{1, 9e-3}, {1, 11e-3}}));
  Profile& profile = truth.profile;
  FeatureColumn& work = profile.features[index_of(Feature::compute)];
  profile.run_time_seconds = 0.0;
  for (std::size_t i = 0; i < profile.duration.size(); ++i) {
    const bool is_other = profile.site[i] == 1;
    if (is_other) profile.duration[i] = 11e-3F * (1.0F + 0.01F * static_cast<float>(i % 3));
    if (is_other) work.index[i] = work.index[1];
    profile.run_time_seconds += static_cast<double>(profile.duration[i]);
  }
  EXPECT_EQ(analyze(profile, methods.front().name).result().speed_percent, 0.0);
}

}  // namespace
