#include "analyzer/phases/phases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "tests/truth/truth.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using halcyon::testing::uniform_profile;

constexpr double baseline = 1e-3;  // s

// Segments of 1 ms on 4 ranks, with jitter of 3 % and rare long delays; `factor` times longer where it says so.
Profile run_with_changes(std::size_t segments, const std::function<double(std::size_t)>& factor, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<> jitter(1.0, 0.03);
  std::bernoulli_distribution strikes(0.02);
  std::exponential_distribution<> delay(0.2);
  Profile profile = uniform_profile(segments, baseline, 4);
  double sum = 0.0;
  for (std::size_t i = 0; i < segments; ++i) {
    const double relative = factor(i) * jitter(random) + (strikes(random) ? delay(random) : 0.0);
    profile.duration[i] = static_cast<float>(baseline * relative);
    profile.last_rank[i] = static_cast<std::uint32_t>(i % 4);
    sum += static_cast<double>(profile.duration[i]);
  }
  profile.run_time_seconds = sum;
  return profile;
}

constexpr LeastChange least{.factor = 1.08, .share = 0.01};

// What segments usually take is known here, so no estimate is needed: those of large groups take the baseline.
Phases phases_of(const Profile& profile) {
  const Grouping grouping = group_segments(profile);
  std::vector<float> usual(profile.segments, 0.0F);
  for (std::size_t i = 0; i < profile.segments; ++i) {
    if (grouping.members(grouping.groups.of[i]).size() >= smallest_judged_group)
      usual[i] = static_cast<float>(baseline);
  }
  const std::optional<Phases> phases = find_phases(profile, {.usual = usual, .slow = {}}, least);
  EXPECT_TRUE(phases.has_value());
  return phases.value_or(Phases{});
}

// When a segment begins.
double begin_of(const Profile& profile, std::size_t segment) {
  return std::accumulate(profile.duration.begin(), profile.duration.begin() + static_cast<std::ptrdiff_t>(segment),
                         0.0);
}

TEST(Phases, OfASteadyRunAreOne) {
  constexpr unsigned runs = 300;
  for (unsigned seed = 0; seed < runs; ++seed) {
    const Phases phases = phases_of(run_with_changes(
        200 + 10 * seed, [](std::size_t) { return 1.0; }, seed));
    EXPECT_TRUE(phases.dominant);
    EXPECT_EQ(phases.stable_from_seconds, 0.0);
    EXPECT_EQ(phases.stable_to_seconds, phases.end_seconds);
    EXPECT_TRUE(phases.changes.empty()) << seed;
  }
}

// Any law of jitter and of delays; one group, several ones, or two of which one comes after the other.
TEST(Phases, OfSteadyRunsUnderAllLawsAreHardlyEverMoreThanOne) {
  constexpr unsigned runs = 200;
  unsigned runs_with_changes = 0;
  for (unsigned seed = 0; seed < runs; ++seed) {
    truth::Run run{.ranks = seed % 2 == 0 ? 1 : 4, .segments = 200 + 40UL * seed, .seed = seed};
    run.jitter_law = static_cast<truth::JitterLaw>(1 + seed % 7);
    run.jitter = 0.005 * (1 + seed % 40);
    run.delay_law = static_cast<truth::DelayLaw>(seed % 9);
    run.hits = 0.02 * (seed % 50);
    run.slowdown = seed % 50 == 0 ? 0.0 : 0.5;
    if (seed % 3 == 1) run.phases = {{5, 1e-3}, {2, 5e-3}, {1, 2e-2}};
    Profile profile = truth::make_truth(run).profile;
    if (seed % 3 == 2) {
      profile.sites = {"allreduce@app+0x10", "bcast@app+0x20"};
      profile.site.assign(profile.segments, 0);
      for (std::size_t i = profile.segments * 9 / 10; i < profile.segments; ++i) {
        profile.site[i] = 1;
        profile.duration[i] *= 20.0F;
      }
    }
    const Grouping grouping = group_segments(profile);
    std::vector<float> usual(profile.segments);
    for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
      const std::vector<float> durations = ascending_durations(profile, grouping.members(group));
      for (const std::uint32_t segment : grouping.members(group)) usual[segment] = durations[durations.size() / 2];
    }
    const std::optional<Phases> phases = find_phases(profile, {.usual = usual, .slow = {}}, least);
    ASSERT_TRUE(phases.has_value());
    runs_with_changes += phases->changes.empty() ? 0 : 1;
  }
  EXPECT_LE(runs_with_changes, 4U);
}

// The test takes blocks as independent. What it finds in jitter that wanders is mostly too small to be told: about 2 of
// 100 such runs have a change, and more than 6 would be improbable.
TEST(Phases, OfARunWhoseJitterWandersAreOne) {
  constexpr unsigned runs = 100;
  unsigned runs_with_changes = 0;
  for (unsigned seed = 0; seed < runs; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<> step(0.0, 0.1);
    double wander = 0.0;
    const auto factor = [&](std::size_t) { return 1.0 + (wander = 0.7 * wander + step(random)); };
    runs_with_changes += phases_of(run_with_changes(1000, factor, seed)).changes.empty() ? 0 : 1;
  }
  EXPECT_LE(runs_with_changes, 6U);
}

TEST(Phases, AreInTheAnalysisOfARun) {
  const auto is_slow = [](std::size_t i) { return i >= 500 && i < 800; };
  const Profile profile = run_with_changes(1500, [&](std::size_t i) { return is_slow(i) ? 1.5 : 1.0; });
  const std::optional<Phases> phases = analyze(profile, methods.front().name).phases;
  ASSERT_TRUE(phases.has_value());
  ASSERT_EQ(phases->changes.size(), 1U);
  EXPECT_NEAR(phases->changes[0].factor, 1.5, 0.05);
}

TEST(Phases, TellWhenEverythingWasSlowerByWhatFactorAndWhoHeldTheOthersUp) {
  for (const std::size_t segments : {1000UL, 100'000UL}) {
    const std::size_t from = segments / 5;
    const std::size_t to = segments / 3;
    const auto is_slow = [&](std::size_t i) { return i >= from && i < to; };
    Profile profile = run_with_changes(segments, [&](std::size_t i) { return is_slow(i) ? 1.6 : 1.0; });
    profile.rank_host = {"a", "a", "b", "b"};
    for (std::size_t i = from; i < to; ++i) profile.last_rank[i] = i % 20 == 0 ? 0 : 2;
    const Phases phases = phases_of(profile);
    EXPECT_TRUE(phases.dominant);
    ASSERT_EQ(phases.changes.size(), 1U);
    const LevelChange& change = phases.changes.front();
    EXPECT_NEAR(change.from_seconds, begin_of(profile, from), 0.02);
    EXPECT_NEAR(change.to_seconds, begin_of(profile, to), 0.02);
    EXPECT_NEAR(change.factor, 1.6, 0.05);
    EXPECT_EQ(change.ranks, std::vector<std::uint32_t>{2});
    EXPECT_EQ(change.hosts, std::vector<std::string>{"b"});
  }
}

TEST(Phases, NameAHostAllOfWhoseRanksWereSlowAndNobodyWhereAllWere) {
  const auto is_slow = [](std::size_t i) { return i >= 500 && i < 800; };
  Profile profile = run_with_changes(1500, [&](std::size_t i) { return is_slow(i) ? 1.5 : 1.0; });
  EXPECT_TRUE(phases_of(profile).changes.at(0).ranks.empty());
  EXPECT_TRUE(phases_of(profile).changes.at(0).hosts.empty());
  profile.ranks = 6;
  profile.rank_host = {"a", "b", "b", "b", "b", "c"};
  for (std::size_t i = 0; i < profile.segments; ++i) profile.last_rank[i] = static_cast<std::uint32_t>(1 + i % 4);
  EXPECT_TRUE(phases_of(profile).changes.at(0).ranks.empty());
  EXPECT_EQ(phases_of(profile).changes.at(0).hosts, std::vector<std::string>{"b"});
}

TEST(Phases, SayNothingOfAChangeThatWouldLeaveARunGreen) {
  const auto is_slow = [](std::size_t i) { return i >= 500 && i < 800; };
  EXPECT_TRUE(
      phases_of(run_with_changes(1500, [&](std::size_t i) { return is_slow(i) ? 1.05 : 1.0; })).changes.empty());
  EXPECT_EQ(phases_of(run_with_changes(1500, [&](std::size_t i) { return is_slow(i) ? 1.15 : 1.0; })).changes.size(),
            1U);
}

TEST(Phases, HaveNoUsualLevelWhereNoneHoldsForMoreThanHalfAndThenAreMeasuredAgainstTheLowest) {
  const Phases phases = phases_of(run_with_changes(1200, [](std::size_t i) {
    return i < 400 ? 1.0 : i < 800 ? 1.4 : 2.0;
  }));
  EXPECT_FALSE(phases.dominant);
  ASSERT_EQ(phases.changes.size(), 2U);
  EXPECT_NEAR(phases.changes[0].factor, 1.4, 0.05);
  EXPECT_NEAR(phases.changes[1].factor, 2.0, 0.07);
}

TEST(Phases, TellOfAFewSlowSegmentsThatTakeMuchOfTheTime) {
  const auto is_slow = [](std::size_t i) { return i >= 12'000 && i < 12'330; };
  const Profile profile = run_with_changes(25'000, [&](std::size_t i) { return is_slow(i) ? 20.0 : 1.0; });
  const Phases phases = phases_of(profile);
  EXPECT_TRUE(phases.dominant);
  ASSERT_EQ(phases.changes.size(), 1U);
  EXPECT_NEAR(phases.changes[0].from_seconds, begin_of(profile, 12'000), 0.02);
  EXPECT_NEAR(phases.changes[0].to_seconds, begin_of(profile, 12'330), 0.02);
  EXPECT_NEAR(phases.changes[0].factor, 20.0, 0.3);
}

// A level is usual by the segments that it has, not by its time.
TEST(Phases, TellOfSlowSegmentsThatTakeMostOfTheTimeAsSlow) {
  for (const std::size_t segments : {400UL, 40'000UL}) {
    const auto is_slow = [&](std::size_t i) { return i >= segments / 2 && i < segments * 9 / 10; };
    const Phases phases = phases_of(run_with_changes(segments, [&](std::size_t i) { return is_slow(i) ? 5.0 : 1.0; }));
    EXPECT_TRUE(phases.dominant);
    ASSERT_EQ(phases.changes.size(), 1U);
    EXPECT_NEAR(phases.changes[0].factor, 5.0, 0.1);
  }
}

TEST(Phases, AreNoneOfSegmentsThatTakeNoTime) {
  const Profile profile = uniform_profile(100'000, 0.0);
  EXPECT_FALSE(find_phases(profile, {.usual = profile.duration, .slow = {}}, least).has_value());
}

TEST(Phases, EndAChangeBeforeOtherWorkThatFollowsIt) {
  const auto is_slow = [](std::size_t i) { return i >= 500 && i < 800; };
  Profile profile = run_with_changes(1500, [&](std::size_t i) { return is_slow(i) ? 1.5 : 1.0; });
  profile.sites = {"allreduce@app+0x10", "barrier@app+0x20"};
  profile.site.assign(1500, 0);
  profile.site[800] = 1;
  profile.duration[800] = 2.0F;
  const Phases phases = phases_of(profile);
  ASSERT_EQ(phases.changes.size(), 1U);
  EXPECT_NEAR(phases.changes[0].from_seconds, begin_of(profile, 500), 0.02);
  EXPECT_NEAR(phases.changes[0].to_seconds, begin_of(profile, 800), 0.02);
}

// The groups of a run with two kinds of work, one at each site.
Profile with_sites(Profile profile, const std::function<std::uint16_t(std::size_t)>& site) {
  profile.sites = {"allreduce@app+0x10", "bcast@app+0x20"};
  for (std::size_t i = 0; i < profile.segments; ++i) profile.site.push_back(site(i));
  return profile;
}

// Every fourth segment usually takes nine times as long as others, and only these are slower.
TEST(Phases, WeighSegmentsByTheTimeThatTheyUsuallyTake) {
  const auto is_long = [](std::size_t i) { return i % 4 == 1; };
  const auto is_slow = [&](std::size_t i) { return i >= 500 && i < 800 && is_long(i); };
  const Profile profile =
      run_with_changes(1500, [&](std::size_t i) { return (is_long(i) ? 9.0 : 1.0) * (is_slow(i) ? 3.0 : 1.0); });
  std::vector<float> usual;
  for (std::size_t i = 0; i < 1500; ++i) usual.push_back(static_cast<float>((is_long(i) ? 9.0 : 1.0) * baseline));
  const Phases phases = find_phases(profile, {.usual = usual, .slow = {}}, least).value();
  ASSERT_EQ(phases.changes.size(), 1U);
  EXPECT_NEAR(phases.changes[0].factor, 2.5, 0.1);
  EXPECT_NEAR(phases.changes[0].added_seconds, 75 * 18 * baseline, 0.2);
}

TEST(Phases, CountSegmentsOfASlowStretchThatAreNotSlower) {
  const auto is_slow = [](std::size_t i) { return i >= 500 && i < 800 && i % 3 != 0; };
  const Phases phases = phases_of(run_with_changes(1500, [&](std::size_t i) { return is_slow(i) ? 2.0 : 1.0; }));
  ASSERT_EQ(phases.changes.size(), 1U);
  EXPECT_NEAR(phases.changes[0].factor, 5.0 / 3.0, 0.05);
  EXPECT_NEAR(phases.changes[0].added_seconds, 200 * baseline, 0.02);
}

TEST(Phases, SayNothingOfASmallChangeThatASingleLongDelayFallsInto) {
  const auto is_slow = [](std::size_t i) { return i >= 500 && i < 540; };
  Profile profile = run_with_changes(1000, [&](std::size_t i) { return is_slow(i) ? 1.15 : 1.0; });
  profile.duration[520] += 0.3F;
  profile.run_time_seconds += 0.3;
  EXPECT_TRUE(phases_of(profile).changes.empty());
}

TEST(Phases, TellOfAChangeWhereverASingleLongDelayIs) {
  for (const std::size_t at : {100UL, 600UL}) {
    const auto is_slow = [](std::size_t i) { return i >= 500 && i < 800; };
    Profile profile = run_with_changes(1500, [&](std::size_t i) { return is_slow(i) ? 1.4 : 1.0; });
    profile.duration[at] += 2.0F;
    profile.run_time_seconds += 2.0;
    const Phases phases = phases_of(profile);
    ASSERT_EQ(phases.changes.size(), 1U);
    EXPECT_NEAR(phases.changes[0].factor, 1.4, 0.05);
  }
}

TEST(Phases, TellOfSlowFirstRepetitions) {
  const Profile profile = run_with_changes(1000, [](std::size_t i) { return i < 100 ? 1.7 : 1.0; });
  const Phases phases = phases_of(profile);
  EXPECT_EQ(phases.stable_from_seconds, 0.0);
  ASSERT_EQ(phases.changes.size(), 1U);
  EXPECT_EQ(phases.changes[0].from_seconds, 0.0);
  EXPECT_NEAR(phases.changes[0].to_seconds, begin_of(profile, 100), 0.01);
  EXPECT_NEAR(phases.changes[0].factor, 1.7, 0.05);
}

TEST(Phases, CountWhatComesBeforeAndAfterTheRepeatedWorkAsStartUpAndEnd) {
  Profile profile = run_with_changes(1000, [](std::size_t) { return 1.0; });
  profile.sites = {"allreduce@app+0x10", "bcast@app+0x20", "barrier@app+0x30", "reduce@app+0x40"};
  profile.site.assign(1000, 0);
  // One segment of the repeated work comes early, as where a function is called once to prepare.
  profile.site[0] = 1;
  profile.site[2] = 2;
  profile.site[999] = 3;
  profile.duration[0] = profile.duration[2] = 0.2F;
  profile.duration[999] = 0.1F;
  const Phases phases = phases_of(profile);
  EXPECT_NEAR(phases.stable_from_seconds, begin_of(profile, 3), 1e-9);
  EXPECT_NEAR(phases.end_seconds - phases.stable_to_seconds, 0.1, 1e-6);
}

TEST(Phases, FindAShortLoopBetweenALongStartUpAndALongEnd) {
  Profile profile = run_with_changes(1000, [](std::size_t) { return 1.0; });
  profile.sites = {"allreduce@app+0x10", "bcast@app+0x20", "barrier@app+0x30", "reduce@app+0x40"};
  profile.site.assign(1000, 0);
  profile.site[0] = 1;
  profile.site[998] = 2;
  profile.site[999] = 3;
  profile.duration[0] = profile.duration[998] = profile.duration[999] = 20.0F;
  const Phases phases = phases_of(profile);
  EXPECT_NEAR(phases.stable_from_seconds, begin_of(profile, 1), 1e-6);
  EXPECT_NEAR(phases.stable_to_seconds, begin_of(profile, 998), 1e-6);
}

TEST(Phases, LeaveSlowSegmentsOfTheRepeatedKindInTheStartUp) {
  Profile profile = run_with_changes(1000, [](std::size_t) { return 1.0; });
  profile.sites = {"allreduce@app+0x10", "barrier@app+0x20"};
  profile.site.assign(1000, 0);
  profile.site[2] = 1;
  profile.duration[0] = profile.duration[1] = static_cast<float>(8.0 * baseline);
  profile.duration[2] = static_cast<float>(6.0 * baseline);
  EXPECT_NEAR(phases_of(profile).stable_from_seconds, begin_of(profile, 3), 1e-6);
}

TEST(Phases, TellOfAChangeThatHasFewSegmentsOfEachGroup) {
  const auto is_slow = [](std::size_t i) { return i >= 200 && i < 230; };
  Profile profile = run_with_changes(400, [&](std::size_t i) { return is_slow(i) ? 2.0 : 1.0; });
  profile.duration[220] += 0.1F;
  profile.sites.clear();
  for (std::uint16_t i = 0; i < 10; ++i) profile.sites.push_back("allreduce@app+0x" + std::to_string(10 + i));
  for (std::size_t i = 0; i < profile.segments; ++i) profile.site.push_back(static_cast<std::uint16_t>(i % 10));
  const Phases phases = phases_of(profile);
  ASSERT_EQ(phases.changes.size(), 1U);
  EXPECT_NEAR(phases.changes[0].factor, 2.0, 0.2);
}

// The work of a segment varies. It rises by 30 %, stays there for a while, and falls again.
double more_work(std::size_t segment) {
  const auto i = static_cast<double>(segment);
  return 1.0 + 0.2 * std::fmod(i * std::numbers::phi, 1.0) +
         0.3 * std::clamp(std::min((i - 400.0) / 100.0, (900.0 - i) / 100.0), 0.0, 1.0);
}

Profile run_with_more_work(const std::function<double(std::size_t)>& slower) {
  Profile profile = run_with_changes(1500, [&](std::size_t i) { return more_work(i) * slower(i); });
  profile.counter = "papi:PAPI_TOT_INS";
  FeatureColumn& work = halcyon::testing::column(profile, Feature::compute);
  work.bins.clear();
  for (std::uint16_t bin = 0; bin <= 100; ++bin) work.bins.push_back(1e6 * (1.0 + 0.005 * bin));
  for (std::size_t i = 0; i < profile.segments; ++i) {
    work.index.push_back(static_cast<std::uint16_t>(std::lround((more_work(i) - 1.0) / 0.005)));
  }
  return profile;
}

Phases analyzed_phases_of(const Profile& profile) {
  const std::optional<Phases> phases = analyze(profile, methods.front().name).phases;
  EXPECT_TRUE(phases.has_value());
  return phases.value_or(Phases{});
}

TEST(Phases, DoNotTakeMoreCountedWorkForASlowerLevel) {
  Profile profile = run_with_more_work([](std::size_t) { return 1.0; });
  EXPECT_TRUE(analyzed_phases_of(profile).changes.empty());
  // CPU time is longer itself where everything is slower.
  profile.counter = "cpu";
  const Phases phases = analyzed_phases_of(profile);
  ASSERT_EQ(phases.changes.size(), 1U);
  EXPECT_TRUE(phases.changes[0].may_be_work);
}

TEST(Phases, TellOfASlowerLevelWhereTheCountedWorkChangesToo) {
  const auto is_slow = [](std::size_t i) { return i >= 700 && i < 1100; };
  const Profile profile = run_with_more_work([&](std::size_t i) { return is_slow(i) ? 1.5 : 1.0; });
  const Phases phases = analyzed_phases_of(profile);
  ASSERT_EQ(phases.changes.size(), 1U);
  EXPECT_NEAR(phases.changes[0].from_seconds, begin_of(profile, 700), 0.02);
  EXPECT_NEAR(phases.changes[0].factor, 1.5, 0.1);
  EXPECT_FALSE(phases.changes[0].may_be_work);
}

TEST(Phases, AreNoneWhereTheFewJudgedSegmentsLieScattered) {
  Profile profile = uniform_profile(100, 0.1);
  FeatureColumn& sends = halcyon::testing::column(profile, Feature::sends_blocking);
  for (std::uint16_t i = 0; i < 100; ++i) {
    const bool is_judged = i % 10 == 5;
    sends.bins.push_back(i);
    sends.index.push_back(is_judged ? 5 : i);
    if (is_judged) profile.duration[i] = static_cast<float>(baseline);
  }
  EXPECT_FALSE(analyze(profile, "paper").phases.has_value());
}

TEST(Phases, AreNoneWhereNothingRepeats) {
  EXPECT_FALSE(analyze(uniform_profile(3, 1.0), methods.front().name).phases.has_value());
}

TEST(Phases, DoNotTakeOtherWorkForAnotherLevel) {
  const Profile profile = with_sites(run_with_changes(2000, [](std::size_t i) { return i < 1000 ? 1.0 : 3.0; }),
                                     [](std::size_t i) { return static_cast<std::uint16_t>(i < 1000 ? 0 : 1); });
  const std::optional<Phases> phases = analyze(profile, methods.front().name).phases;
  ASSERT_TRUE(phases.has_value());
  EXPECT_TRUE(phases->changes.empty());
}

TEST(Phases, TellOfAChangeBesideOtherWork) {
  const auto is_other = [](std::size_t i) { return i >= 800 && i < 1200; };
  const Profile profile = run_with_changes(1500, [&](std::size_t i) {
    return i >= 500 && i < 800 ? 1.5 : is_other(i) ? 2.0 : 1.0;
  });
  std::vector<float> usual;
  for (std::size_t i = 0; i < 1500; ++i) usual.push_back(static_cast<float>(is_other(i) ? 2.0 * baseline : baseline));
  const Phases phases = find_phases(profile, {.usual = usual, .slow = {}}, least).value();
  EXPECT_TRUE(phases.dominant);
  ASSERT_EQ(phases.changes.size(), 1U);
  EXPECT_NEAR(phases.changes[0].factor, 1.5, 0.05);
  EXPECT_NEAR(phases.changes[0].to_seconds, begin_of(profile, 800), 0.02);
}

}  // namespace
