#include "analyzer/known/known_displacement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analyzer/estimate/earlier_runs.hpp"
#include "analyzer/estimate/estimators.hpp"
#include "analyzer/judge/analysis.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

/// Two kinds of work by turns, of 1 and 3 ms and some jitter, all `slower` times as long; CPU time follows the speed.
Profile run_of(double slower, std::size_t segments = 400, int seed = 0) {
  Profile profile = uniform_profile(segments, 1.0);
  profile.rank_cpu.assign(2, "Some CPU");
  column(profile, Feature::compute).bins = {0.9e6 * slower, 2.9e6 * slower};
  double sum = 0.0;
  for (std::size_t i = 0; i < segments; ++i) {
    column(profile, Feature::compute).index.push_back(static_cast<std::uint16_t>(i % 2));
    const double jitter = 1.0 + 0.01 * std::sin(static_cast<double>(7 * i) + seed);
    profile.duration[i] = static_cast<float>((i % 2 == 0 ? 1e-3 : 3e-3) * slower * jitter);
    sum += static_cast<double>(profile.duration[i]);
  }
  profile.run_time_seconds = sum;
  return profile;
}

KnownWork known_of(const Profile& profile) { return known_by(profile, group_segments(profile)); }
KnownWork with(const KnownWork& known, const Profile& profile) {
  return with_run(known, profile, group_segments(profile));
}
std::optional<KnownRuns> displacement(const Profile& profile, const KnownWork& known) {
  return displacement_from(profile, group_segments(profile), known);
}
double percent(const Profile& profile, double seconds) { return 100.0 * seconds / profile.run_time_seconds; }

TEST(KnownRuns, TellHowFarTheMediansOfARunLieAboveTheirs) {
  const Profile slow = run_of(1.25, 400, 1);
  const auto found = displacement(slow, known_of(run_of(1.0)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->runs, 1u);
  EXPECT_NEAR(percent(slow, found->displacement_seconds), 20.0, 0.5);
  EXPECT_LT(found->low_seconds, found->displacement_seconds);
  EXPECT_GT(found->high_seconds, found->displacement_seconds);
  EXPECT_NEAR(percent(slow, found->low_seconds), 20.0, 1.0);
  EXPECT_NEAR(found->matched_seconds, slow.run_time_seconds, 1e-6);
}

TEST(KnownRuns, TellThatARunWasFaster) {
  const Profile fast = run_of(0.8);
  EXPECT_NEAR(percent(fast, displacement(fast, known_of(run_of(1.0)))->displacement_seconds), -25.0, 0.5);
}

TEST(KnownRuns, AreRepresentedByTheBestOfThem) {
  const Profile now = run_of(1.25);
  KnownWork known = known_of(run_of(1.5));
  known = with(known, run_of(1.0));
  known = with(known, run_of(1.4));
  EXPECT_EQ(known.runs, 3u);
  ASSERT_EQ(known.groups.size(), 2u);
  for (const KnownGroup& group : known.groups) {
    EXPECT_EQ(group.runs, 3u);
    ASSERT_TRUE(group.second_median);
    EXPECT_NEAR(*group.second_median / group.best_median, 1.4, 0.01);
  }
  EXPECT_NEAR(percent(now, displacement(now, known)->displacement_seconds), 20.0, 0.5);
}

TEST(KnownRuns, OrderDoesNotMatter) {
  const std::vector<double> speeds{1.2, 1.0, 1.1};
  const auto known_in = [&speeds](std::vector<std::size_t> order) {
    KnownWork known = known_of(run_of(speeds[order[0]]));
    for (std::size_t i = 1; i < order.size(); ++i) known = with(known, run_of(speeds[order[i]]));
    return known;
  };
  const Profile now = run_of(1.3);
  const auto a = displacement(now, known_in({0, 1, 2}));
  const auto b = displacement(now, known_in({2, 0, 1}));
  EXPECT_DOUBLE_EQ(a->displacement_seconds, b->displacement_seconds);
  EXPECT_DOUBLE_EQ(a->low_seconds, b->low_seconds);
}

// The best of several like ones is better than most by chance alone.
TEST(KnownRuns, ThatScatterWidenTheIntervalDownwards) {
  const Profile now = run_of(1.0, 400, 9);
  KnownWork several = known_of(run_of(0.992));
  several = with(several, run_of(1.0));
  several = with(several, run_of(1.008));
  const auto one = displacement(now, known_of(run_of(0.992)));
  const auto three = displacement(now, several);
  EXPECT_NEAR(one->displacement_seconds, three->displacement_seconds, 1e-9);
  EXPECT_DOUBLE_EQ(one->high_seconds, three->high_seconds);
  EXPECT_LT(three->low_seconds, one->low_seconds - 0.003 * now.run_time_seconds);
  EXPECT_LT(three->low_seconds, 0.0);
}

TEST(KnownRuns, ThatWereDisturbedDoNotWidenItWithoutEnd) {
  const Profile now = run_of(1.25);
  KnownWork known = known_of(run_of(1.0));
  known = with(known, run_of(1.8));
  EXPECT_GT(percent(now, displacement(now, known)->low_seconds), 17.0);
}

TEST(KnownRuns, OfOtherWorkTellNothing) {
  const KnownWork known = known_of(run_of(1.0));
  Profile other = run_of(1.0);
  column(other, Feature::sends_blocking).bins = {1.0};
  EXPECT_FALSE(displacement(other, known));
  other = run_of(1.0);
  other.sites = {"allreduce@app+0x20"};
  EXPECT_FALSE(displacement(other, known));
  other = run_of(2.5);  // more than twice the CPU time
  EXPECT_FALSE(displacement(other, known));
  other = run_of(1.0, 200);
  EXPECT_FALSE(displacement(other, known));
  other = run_of(1.0);
  other.counter = "papi:PAPI_TOT_INS";
  EXPECT_FALSE(displacement(other, known));
}

TEST(KnownRuns, OfAStepMoreOrLessTellAsMuch) {
  const Profile now = run_of(1.25, 404);
  EXPECT_NEAR(percent(now, displacement(now, known_of(run_of(1.0)))->displacement_seconds), 20.0, 0.5);
}

// Were the faster half of a group taken for all of it, all later runs would seem slow.
TEST(KnownRuns, InWhichAGroupIsCutInTwoAreNotTakenForFasterOnes) {
  Profile whole = run_of(1.0);
  column(whole, Feature::compute) = {{1e6}, {}};
  Profile cut = whole;
  column(cut, Feature::compute) = run_of(1.0).features[index_of(Feature::compute)];
  const KnownWork known = with(known_of(whole), cut);
  ASSERT_EQ(known.groups.size(), 1u);
  EXPECT_EQ(known.groups[0].best_median, known_of(whole).groups[0].best_median);
  EXPECT_NEAR(displacement(whole, known)->displacement_seconds, 0.0, 1e-9);
}

TEST(KnownRuns, FarBelowARunAreAWarning) {
  const auto is_warned_of = [](double displacement, double low) {
    Profile profile = uniform_profile(100, 1.0);
    profile.known_runs = KnownRuns{2, displacement, low, displacement + 1.0, 100.0};
    const std::vector<Warning> warnings = analyze(profile, "paper").warnings;
    return std::any_of(warnings.begin(), warnings.end(),
                       [](const Warning& warning) { return warning.code == "slower-than-known"; });
  };
  EXPECT_TRUE(is_warned_of(10.0, 9.0));
  EXPECT_FALSE(is_warned_of(10.0, -1.0));
  EXPECT_FALSE(is_warned_of(2.0, 1.0));
  EXPECT_FALSE(is_warned_of(-10.0, -11.0));
}

TEST(KnownRuns, LearnOnlyFromWholeUndisturbedRuns) {
  const auto learnt = [](void (*change)(Profile&), bool has_medians = true) {
    Profile profile = run_of(1.0);
    change(profile);
    return is_learnt_from(profile, has_medians);
  };
  EXPECT_TRUE(learnt([](Profile&) {}));
  EXPECT_FALSE(learnt([](Profile&) {}, false));
  EXPECT_FALSE(learnt([](Profile& profile) { profile.exit_state = "aborted"; }));
  EXPECT_FALSE(learnt([](Profile& profile) { profile.inject = "class=all"; }));
  EXPECT_FALSE(learnt([](Profile& profile) { profile.composed_of = {"a.h5"}; }));
  EXPECT_FALSE(learnt([](Profile& profile) { profile.rank_cpu.clear(); }));
}

TEST(KnownRuns, LearnNothingFromSegmentsOfNoDuration) {
  Profile stood = run_of(1.0);
  for (std::size_t i = 0; i < stood.segments; i += 2) stood.duration[i] = 0.0F;
  for (const KnownWork& known : {known_of(stood), with(known_of(run_of(1.0)), stood)}) {
    EXPECT_FALSE(known.groups.empty());
    for (const KnownGroup& group : known.groups) EXPECT_GT(group.best_median, 0.0);
  }
}

TEST(KnownRuns, AreOfTheSameCircumstances) {
  const Circumstances one = circumstances_of(run_of(1.0));
  EXPECT_EQ(one, circumstances_of(run_of(1.3)));
  for (void (*change)(Profile&) :
       {+[](Profile& profile) { profile.command = "other"; }, +[](Profile& profile) { profile.ranks = 4; },
        +[](Profile& profile) { profile.rank_host[1] = "other"; },
        +[](Profile& profile) { profile.rank_cpu[1] = "other"; }, +[](Profile& profile) { profile.mpi = "other"; },
        +[](Profile& profile) { profile.counter = "none"; }}) {
    Profile other = run_of(1.0);
    change(other);
    EXPECT_FALSE(one == circumstances_of(other));
  }
}

TEST(KnownRuns, KeepTheLargestGroupsOnly) {
  Profile profile = uniform_profile(5 * 300 + 50, 1.0);
  column(profile, Feature::writes).bins.clear();
  for (std::size_t i = 0; i < 300; ++i) column(profile, Feature::writes).bins.push_back(static_cast<double>(i));
  for (std::size_t i = 0; i < profile.segments; ++i) {
    column(profile, Feature::writes).index.push_back(static_cast<std::uint16_t>(i < 1500 ? i / 5 : 299));
  }
  const KnownWork known = known_of(profile);
  ASSERT_EQ(known.groups.size(), most_known_groups);
  EXPECT_EQ(known.groups[0].description.segments, 55u);
}

// A long tail lifts the mean, and with it a baseline that little was added to, above the median.
TEST(KnownRuns, AddNoMoreThanTheRiseWhereTheBaselineIsAboveTheMedian) {
  JudgedDurations run;
  const std::vector<float> durations{1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 5.0F};
  add_group(run, {.durations = durations});
  RunEstimate estimate{.groups = {{.baseline = 1.5, .excess_seconds = 1.0}}};
  add_rise(estimate, run, 0.2, {0.1, 0.3});
  EXPECT_NEAR(estimate.groups.front().excess_seconds, 1.2, 1e-9);
}

/// With some segments of the run twice as long.
template <class IsHit>
Profile hit(Profile profile, IsHit is_hit) {
  profile.run_time_seconds = 0.0;
  for (std::size_t i = 0; i < profile.segments; ++i) {
    if (is_hit(i)) profile.duration[i] *= 2.0F;
    profile.run_time_seconds += static_cast<double>(profile.duration[i]);
  }
  return profile;
}

KnownRuns::OfParts beyond_parts(const Profile& profile, const KnownWork& known) {
  return displacement(profile, known)->of_parts.value();
}

TEST(KnownParts, TellWhatARunLostWhereverItWasDisturbed) {
  const KnownWork known = with(known_of(run_of(1.0)), run_of(1.0, 400, 1));
  const Profile slow = run_of(1.25, 400, 2);
  EXPECT_NEAR(percent(slow, beyond_parts(slow, known).beyond_seconds), 20.0, 1.0);
  const Profile in_part = hit(run_of(1.0, 400, 2), [](std::size_t i) { return i >= 100 && i < 200; });
  EXPECT_NEAR(percent(in_part, beyond_parts(in_part, known).beyond_seconds), 20.0, 1.0);
  const Profile now_and_then = hit(run_of(1.0, 400, 2), [](std::size_t i) { return i % 21 == 0; });
  EXPECT_NEAR(percent(now_and_then, beyond_parts(now_and_then, known).beyond_seconds), 4.5, 1.5);
}

TEST(KnownParts, TellNothingOfARunThatIsLikeTheKnownOnes) {
  const KnownWork known = with(known_of(run_of(1.0)), run_of(1.0, 400, 1));
  const Profile now = run_of(1.0, 400, 2);
  const KnownRuns::OfParts beyond = beyond_parts(now, known);
  EXPECT_LE(beyond.low_seconds, 0.0);
  EXPECT_GE(beyond.high_seconds, 0.0);
  EXPECT_LT(percent(now, beyond.high_seconds), 2.0);
}

// No known run need be undisturbed from start to end.
TEST(KnownParts, AreEachOfTheRunThatWasLeastDisturbedThere) {
  const KnownWork known = with(known_of(hit(run_of(1.0), [](std::size_t i) { return i < 150; })),
                               hit(run_of(1.0, 400, 1), [](std::size_t i) { return i >= 200; }));
  const Profile slow = run_of(1.25, 400, 2);
  EXPECT_NEAR(percent(slow, beyond_parts(slow, known).beyond_seconds), 20.0, 2.0);
}

TEST(KnownParts, TellWhatIsLeftOfARun) {
  KnownParts known{.segments = 200, .runs = 2, .parts = std::vector<KnownPart>(known_part_count, {1.0, 1.5})};
  known.parts.back().best = 3.0;
  EXPECT_DOUBLE_EQ(*best_seconds_after(known, 0), 102.0);
  EXPECT_DOUBLE_EQ(*best_seconds_after(known, 101), 51.5);
  EXPECT_DOUBLE_EQ(*best_seconds_after(known, 199), 1.5);
  EXPECT_DOUBLE_EQ(*best_seconds_after(known, 200), 0.0);
  EXPECT_FALSE(best_seconds_after(known, 201));
}

TEST(KnownParts, OfAnotherNumberOfSegmentsTellNothing) {
  EXPECT_FALSE(displacement(run_of(1.0, 402), known_of(run_of(1.0)))->of_parts);
  const KnownWork known = with(known_of(run_of(1.0)), run_of(1.0, 402));  // changed since
  EXPECT_EQ(known.parts->segments, 402u);
  EXPECT_EQ(with(with(known, run_of(1.0, 402)), run_of(1.0)).parts->segments, 402u);
}

TEST(KnownParts, AreTheLeastThatCameFromOutside) {
  Profile profile = run_of(1.0, 800);
  profile.known_runs =
      KnownRuns{.runs = 2,
                .matched_seconds = profile.run_time_seconds,
                .of_parts = KnownRuns::OfParts{2, 0.3 * profile.run_time_seconds, 0.28 * profile.run_time_seconds,
                                               0.32 * profile.run_time_seconds}};
  const Analysis analysis = analyze(profile, "compound");
  EXPECT_NEAR(analysis.result().interference_percent, 30.0, 0.01);
  EXPECT_NEAR(analysis.result().continuous_percent, 30.0, 1.0);
  EXPECT_NEAR(analysis.result().interval_percent.low, 28.0, 0.01);
  EXPECT_EQ(analysis.result().verdict, Verdict::red);
}

TEST(KnownParts, MakeUnlikelyWhatWouldHaveStruckTheKnownRunsAsWell) {
  JudgedDurations run;
  const std::vector<float> durations{1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 5.0F};
  add_group(run, {.durations = durations});
  const auto weighed = [&run](const Interval& interval, std::uint64_t runs) {
    RunEstimate estimate{.groups = {{.baseline = 1.5, .excess_seconds = 1.0}}, .excess_seconds = interval};
    weigh_with_known(estimate, run, 0.1, {0.0, 0.2}, runs);
    return estimate;
  };
  const RunEstimate by_one = weighed({0.1, 4.2}, 1);
  EXPECT_NEAR(by_one.groups.front().excess_seconds, 0.6, 1e-9);
  EXPECT_NEAR(by_one.groups.front().baseline, 1.5 + 0.4 / 6, 1e-9);
  EXPECT_NEAR(by_one.excess_seconds.high, 2.2, 1e-9);
  EXPECT_NEAR(weighed({0.1, 4.2}, 3).excess_seconds.high, 1.2, 1e-9);
  EXPECT_NEAR(weighed({0.1, 4.2}, 19).excess_seconds.high, 0.4, 1e-9);
  // Where the run itself leaves no doubt, one known run does not make any; two do.
  EXPECT_NEAR(weighed({0.8, 1.2}, 1).groups.front().excess_seconds, 1.0, 1e-9);
  EXPECT_NEAR(weighed({0.8, 1.2}, 1).excess_seconds.low, 0.8, 1e-9);
  EXPECT_NEAR(weighed({0.8, 1.2}, 3).groups.front().excess_seconds, 0.4, 1e-9);
  EXPECT_NEAR(weighed({0.8, 1.2}, 2).excess_seconds.low, 0.0, 1e-9);
  EXPECT_NEAR(weighed({0.8, 1.2}, 2).excess_seconds.high, 1.2, 1e-9);
}

}  // namespace
