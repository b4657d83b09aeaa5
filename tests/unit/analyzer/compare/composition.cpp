#include "analyzer/compare/composition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "analyzer/judge/analysis.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

const std::vector<std::string> names{"a.h5", "b.h5", "c.h5"};

/// 100 segments between 1 and 1.01 s, of which those from `from` on, `count` of them, take 5 s longer.
Profile disturbed_run(std::size_t from, std::size_t count) {
  Profile profile = uniform_profile(100, 1.0);
  for (std::size_t i = 0; i < 100; ++i) {
    const bool is_disturbed = i >= from && i < from + count;
    profile.duration[i] = 1.0F + 0.001F * static_cast<float>(i * 7 % 11) + (is_disturbed ? 5.0F : 0.0F);
    profile.boundary_wait[i] = is_disturbed ? 3.0F : 0.1F;
    profile.last_rank[i] = is_disturbed ? 1 : 0;
  }
  profile.run_time_seconds = std::accumulate(profile.duration.begin(), profile.duration.end(), 0.0);
  profile.rank_run_time.assign(2, profile.run_time_seconds);
  return profile;
}

Composition composed(const std::vector<Profile>& runs) {
  const Outcome<Composition> composition =
      compose(runs, {names.begin(), names.begin() + static_cast<long>(runs.size())});
  EXPECT_TRUE(composition) << composition.failure().message;
  return *composition;
}

std::string refusal(const std::vector<Profile>& runs) {
  const Outcome<Composition> composition =
      compose(runs, {names.begin(), names.begin() + static_cast<long>(runs.size())});
  return composition ? "" : composition.failure().message;
}

TEST(Composition, ReplacesTheDisturbedSegmentsOfTheLeastDisturbedRun) {
  const std::vector<Profile> runs{disturbed_run(10, 20), disturbed_run(50, 10), disturbed_run(80, 15)};
  const Composition composition = composed(runs);
  EXPECT_EQ(composition.skeleton, 1u);
  EXPECT_EQ(composition.replaced, 10u);
  EXPECT_EQ(composition.unjudged, 0u);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_LT(composition.profile.duration[i], 1.1F) << i;
    if (i < 50 || i >= 60) {
      EXPECT_EQ(composition.profile.duration[i], runs[1].duration[i]) << i;
    }
  }
}

TEST(Composition, TakesAsLongAsItsSegmentsTogether) {
  const Composition composition = composed({disturbed_run(10, 20), disturbed_run(50, 10)});
  const std::vector<float>& durations = composition.profile.duration;
  EXPECT_NEAR(composition.profile.run_time_seconds, std::accumulate(durations.begin(), durations.end(), 0.0), 1e-4);
  EXPECT_NEAR(composition.profile.rank_run_time[1], composition.profile.run_time_seconds, 1e-4);
}

TEST(Composition, SaysWhichRunGaveEachSegment) {
  const std::vector<Profile> runs{disturbed_run(10, 20), disturbed_run(50, 10)};
  const Composition composition = composed(runs);
  EXPECT_EQ(composition.profile.composed_of, (std::vector<std::string>{"a.h5", "b.h5"}));
  EXPECT_EQ(composition.profile.exit_state, "composed");
  EXPECT_EQ(composition.given[0] + composition.given[1], 100u);
  EXPECT_GT(composition.given[0], 0u);
  EXPECT_LT(composition.given[0], 10u);  // its own undisturbed segments replace some
  EXPECT_EQ(composition.profile.source[0], 1u);
}

TEST(Composition, DoesNotClaimWhatWasKnownOfOneOfItsRuns) {
  std::vector<Profile> runs{disturbed_run(10, 20), disturbed_run(50, 10)};
  for (Profile& run : runs) run.known_runs = KnownRuns{.runs = 3};
  EXPECT_FALSE(composed(runs).profile.known_runs);
}

TEST(Composition, TakesAllTimesOfASegmentTogether) {
  const Composition composition = composed({disturbed_run(10, 20), disturbed_run(50, 10)});
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(composition.profile.boundary_wait[i], 0.1F) << i;
    EXPECT_EQ(composition.profile.last_rank[i], 0u) << i;
  }
}

TEST(Composition, KeepsTheCountsOfItsSkeleton) {
  std::vector<Profile> runs{disturbed_run(10, 20), disturbed_run(50, 10)};
  for (Profile& run : runs) {
    column(run, Feature::writes) = {{0.0, 2.0}, std::vector<std::uint16_t>(100, 0)};
    for (std::size_t i = 0; i < 50; ++i) column(run, Feature::writes).index[i * 2] = 1;
  }
  const Composition composition = composed(runs);
  EXPECT_EQ(column(runs[1], Feature::writes).index, composition.profile.features[index_of(Feature::writes)].index);
}

// 30 of 100 are replaced: their mean must be that of the undisturbed ones, not their least.
TEST(Composition, KeepsTheLawOfUndisturbedDurations) {
  const Composition composition = composed({disturbed_run(0, 30), disturbed_run(0, 30)});
  double sum = 0.0;
  for (std::size_t i = 0; i < 30; ++i) sum += static_cast<double>(composition.profile.duration[i]);
  EXPECT_NEAR(sum / 30.0, 1.005, 0.0005);
}

TEST(Composition, TakesASlowerGroupFromTheRunWithTheLowestBaseline) {
  Profile slower = disturbed_run(0, 0);
  Profile delayed = disturbed_run(0, 30);
  for (float& seconds : slower.duration) seconds += 1.0F;
  slower.run_time_seconds += 100.0;
  const Composition composition = composed({slower, delayed});
  EXPECT_EQ(composition.replaced, 100u);
  EXPECT_EQ(composition.given[1], 100u);
  EXPECT_NEAR(composition.profile.run_time_seconds, 100.5, 0.1);
}

TEST(Composition, HasNothingLeftAndNoVerdictOfItsOwn) {
  const Analysis analysis = analyze(composed({disturbed_run(10, 20), disturbed_run(50, 10)}).profile, "paper");
  EXPECT_EQ(analysis.result().verdict, Verdict::unknown);
  EXPECT_LT(analysis.result().interference_percent, 0.1);
}

TEST(Composition, LeavesAndCountsWhatHasTooFewAlike) {
  std::vector<Profile> runs{disturbed_run(0, 0), disturbed_run(50, 10)};
  for (Profile& run : runs) {
    column(run, Feature::file_opens) = {{0.0, 1.0}, std::vector<std::uint16_t>(100, 0)};
    column(run, Feature::file_opens).index[3] = 1;
  }
  const Composition composition = composed(runs);
  EXPECT_EQ(composition.unjudged, 1u);
  EXPECT_NEAR(composition.unjudged_seconds, runs[0].duration[3], 1e-6);
}

TEST(Composition, JudgesTogetherWhatIsTooFewInEachRun) {
  std::vector<Profile> runs{disturbed_run(0, 0), disturbed_run(0, 0), disturbed_run(0, 0)};
  for (Profile& run : runs) {
    column(run, Feature::file_opens) = {{0.0, 1.0}, std::vector<std::uint16_t>(100, 0)};
    column(run, Feature::file_opens).index[3] = column(run, Feature::file_opens).index[70] = 1;
  }
  for (Profile& run : runs) run.duration[3] += 2.0F;  // and every run's first is delayed: three of six
  EXPECT_EQ(composed(runs).unjudged, 0u);
}

// Segments that are short and differ much, of which each threshold leaves fewer.
TEST(Composition, ReplacesADelayInAGroupWithoutACore) {
  const std::vector<float> durations{1.12F, 1.12F, 1.12F,  1.12F,  1.12F,  1.16F,   1.16F, 1.16F, 1.16F, 1.16F, 1.16F,
                                     1.42F, 1.42F, 1.42F,  1.42F,  1.46F,  1.46F,   1.46F, 1.51F, 1.52F, 1.52F, 1.52F,
                                     1.56F, 1.56F, 1.65F,  1.84F,  1.86F,  1.87F,   1.88F, 2.14F, 2.27F, 2.27F, 2.31F,
                                     2.38F, 2.40F, 2.40F,  2.41F,  2.53F,  2.54F,   2.55F, 2.55F, 2.59F, 2.61F, 2.62F,
                                     2.67F, 2.70F, 2.72F,  3.00F,  3.04F,  3.15F,   3.25F, 3.27F, 3.35F, 3.39F, 3.61F,
                                     4.47F, 20.5F, 26.34F, 26.79F, 30.67F, 50108.5F};
  Profile profile = uniform_profile(durations.size(), 1.0);
  profile.duration = durations;
  profile.run_time_seconds = std::accumulate(durations.begin(), durations.end(), 0.0);
  const Profile composition = composed({profile, profile}).profile;
  EXPECT_LT(*std::max_element(composition.duration.begin(), composition.duration.end()), 100.0F);
}

TEST(Composition, HasNoColumnThatOneOfItsRunsLacks) {
  std::vector<Profile> runs{disturbed_run(10, 20), disturbed_run(50, 10)};
  runs[0].calls_beyond_usual.clear();  // of an older recorder
  runs[0].last_rank_off_cpu.clear();
  const Composition composition = composed(runs);
  EXPECT_EQ(composition.skeleton, 1u);
  EXPECT_TRUE(composition.profile.calls_beyond_usual.empty());
  EXPECT_TRUE(composition.profile.last_rank_off_cpu.empty());
}

TEST(Composition, KnowsThatNothingWasInjectedIntoOtherRuns) {
  Profile injected = disturbed_run(10, 20);
  injected.inject = "class=all,prob=0.1,mean=5s";
  injected.injected.requested.assign(100, 0.0F);
  for (std::size_t i = 10; i < 30; ++i) injected.injected.requested[i] = 5.0F;
  injected.injected.actual = injected.injected.critical = injected.injected.requested;
  const Composition composition = composed({injected, disturbed_run(50, 10)});
  EXPECT_EQ(composition.profile.inject, injected.inject);
  EXPECT_EQ(*analyze(composition.profile, "paper").injected_percent, 0.0);
}

TEST(Composition, OfOtherWorkIsRefusedNamingFileAndReason) {
  EXPECT_EQ(refusal({disturbed_run(0, 5), disturbed_run(0, 5), uniform_profile(50, 1.0)}),
            "a.h5 and c.h5 did not do the same work: segments: 100 in a.h5, 50 in c.h5 [other-calls]");
}

TEST(Composition, OfWhatIsNoWholeRunIsRefused) {
  Profile other = disturbed_run(0, 5);
  other.exit_state = "composed";
  EXPECT_EQ(refusal({disturbed_run(0, 5), other}), "b.h5 is not a complete run: it ended as 'composed'");
  other = disturbed_run(0, 5);
  other.dropped_segments = 7;
  EXPECT_EQ(refusal({disturbed_run(0, 5), other}), "b.h5 is not a complete run: it lacks 7 segments");
  EXPECT_EQ(refusal({uniform_profile(1, 1.0), disturbed_run(0, 5)}),
            "a.h5 has no boundaries, and so no segments to compose");
}

}  // namespace
