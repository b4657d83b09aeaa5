// What the default method must not be sure of, and what it must not call interference.
#include <gtest/gtest.h>

#include "analyzer/estimate/discrepancy.hpp"
#include "analyzer/judge/analysis.hpp"
#include "tests/truth/truth.hpp"

namespace {

using namespace halcyon;

Analysis analyzed(const truth::Run& run) { return analyze(truth::make_truth(run).profile, methods.front().name); }

truth::Run quiet(truth::Counter counter, double jitter) {
  truth::Run run{.segments = 2000, .jitter_law = truth::JitterLaw::lognormal, .jitter = jitter, .seed = 5};
  run.counter = counter;
  return run;
}

TEST(QuietRun, IsGreenWhereCpuTimeShowsItsWideJitter) {
  const Analysis analysis = analyzed(quiet(truth::Counter::cpu_time, 0.15));
  EXPECT_EQ(analysis.result().verdict, Verdict::green);
  EXPECT_LT(analysis.result().interference_percent, 1.0);
}

TEST(WaitsForACpu, DoNotMakeTheRunShorterThanItsWork) {
  Profile profile = truth::make_truth(quiet(truth::Counter::cpu_time, 0.01)).profile;
  const Analysis before = analyze(profile, methods.front().name);
  const auto ranks = static_cast<std::size_t>(profile.ranks);
  profile.evidence[index_of(Evidence::cpu_wait)].assign(ranks, profile.run_time_seconds);
  profile.evidence[index_of(Evidence::cpus)].assign(ranks, 64.0);
  const Analysis analysis = analyze(profile, methods.front().name);
  EXPECT_GT(analysis.result().interval_percent.high, before.result().interval_percent.high);
  EXPECT_GT(analysis.undisturbed_interval_seconds().low, 0.5 * analysis.undisturbed_time_seconds());
}

// Segments do not say what each rank lost where ranks wait in turn, so that each delay strikes them all.
TEST(WaitsForACpu, AreLostWhereAllRanksWaitAtTheSameTime) {
  Profile profile = truth::make_truth(quiet(truth::Counter::instructions, 0.01)).profile;
  const auto ranks = static_cast<std::size_t>(profile.ranks);
  const auto n = static_cast<double>(ranks);
  profile.evidence[index_of(Evidence::cpu_wait)].assign(ranks, profile.run_time_seconds * (n - 1.0 + 0.4) / n);
  profile.evidence[index_of(Evidence::cpus)].assign(ranks, 64.0);
  const MethodResult alone = analyze(profile, methods.front().name).result();
  EXPECT_NEAR(alone.interference_percent, 40.0, 1.0);
  EXPECT_EQ(alone.verdict, Verdict::red);
  // Another thread may have gone on meanwhile.
  profile.evidence[index_of(Evidence::off_cpu)].assign(ranks, profile.run_time_seconds);
  profile.evidence[index_of(Evidence::cpu_time)].assign(ranks, 0.2 * profile.run_time_seconds / n);
  EXPECT_NEAR(analyze(profile, methods.front().name).result().interference_percent, 20.0, 1.0);
  profile.evidence[index_of(Evidence::cpu_time)].clear();
  profile.evidence[index_of(Evidence::busy_threads)].assign(ranks, 2.0);  // for as long as is not known
  EXPECT_LT(analyze(profile, methods.front().name).result().interference_percent, 1.0);
}

// Others took the CPU for nearly all of the first segments: these are slow, and no start-up.
TEST(WaitsForACpu, DoNotMakeRepeatedWorkStartUp) {
  Profile profile = truth::make_truth(quiet(truth::Counter::instructions, 0.01)).profile;
  const auto ranks = static_cast<std::size_t>(profile.ranks);
  profile.evidence[index_of(Evidence::cpus)].assign(ranks, 64.0);
  profile.evidence[index_of(Evidence::cpu_wait)].assign(ranks, 0.0);
  profile.lost_to_cpu_wait.assign(profile.segments, 0.0F);
  for (std::size_t i = 0; i < profile.segments / 5; ++i) {
    const float more = 9.0F * profile.duration[i];
    profile.duration[i] += more;
    profile.lost_to_cpu_wait[i] = profile.duration[i];
    profile.run_time_seconds += static_cast<double>(more);
  }
  const Analysis analysis = analyze(profile, methods.front().name);
  ASSERT_TRUE(analysis.phases);
  EXPECT_LT(analysis.phases->stable_from_seconds, 0.05 * profile.run_time_seconds);
}

TEST(QuietRun, IsNeverRedForWideJitterThatNothingShows) {
  for (const double jitter : {0.06, 0.1, 0.15, 0.2}) {
    const Analysis analysis = analyzed(quiet(truth::Counter::instructions, jitter));
    EXPECT_NE(analysis.result().verdict, Verdict::red) << jitter;
    EXPECT_LE(analysis.result().interval_percent.low, 0.5) << jitter;
  }
}

TEST(QuietRun, IsGreenWhereWorkVariesAndIsCounted) {
  truth::Run run = quiet(truth::Counter::instructions, 0.01);
  run.variation = {.pattern = truth::Variation::Pattern::random, .spread = 0.3, .fixed = 0.3};
  const Analysis analysis = analyzed(run);
  EXPECT_EQ(analysis.result().verdict, Verdict::green);
  EXPECT_LT(analysis.result().interference_percent, 0.5);
}

TEST(QuietRun, HasNoInterferenceWhereTwoKindsOfWorkLookAlike) {
  truth::Run run = quiet(truth::Counter::instructions, 0.008);
  for (const double longer : {0.06, 0.3}) {
    run.other_kind = {0.4, longer};
    const Analysis analysis = analyzed(run);
    EXPECT_LT(analysis.result().interference_percent, 0.5) << longer;
    EXPECT_LE(analysis.result().interval_percent.low, 0.0) << longer;
  }
}

TEST(QuietRun, MayWaitByItself) {
  truth::Run run = quiet(truth::Counter::instructions, 0.01);
  run.slack = 0.05;
  run.calls = 50;
  const Analysis analysis = analyzed(run);
  EXPECT_EQ(analysis.result().verdict, Verdict::green);
  EXPECT_LE(analysis.result().interval_percent.low, 0.0);
}

// Nothing in a run of the same work tells these from more work.
TEST(DisturbedRun, IsNotGreenWhereWhatIsCountedMayContainTheDelays) {
  truth::Run stolen = quiet(truth::Counter::cpu_time, 0.01);
  stolen.delays_use_cpu = stolen.is_theft_told = true;
  truth::Run spun = quiet(truth::Counter::instructions, 0.01);
  spun.threads = 4;
  for (truth::Run run : {stolen, spun}) {
    run.hits = 0.5;
    run.slowdown = 0.25;
    const truth::Truth truth = truth::make_truth(run);
    const Analysis analysis = analyze(truth.profile, methods.front().name);
    EXPECT_NE(analysis.result().verdict, Verdict::green);
    EXPECT_GE(analysis.result().interval_percent.high, truth.interference_percent);
  }
}

TEST(DisturbedRun, IsSeenThroughWideJitterWhereDelaysAreLong) {
  truth::Run run = quiet(truth::Counter::instructions, 0.12);
  run.hits = 0.03;
  run.slowdown = 0.3;
  const truth::Truth truth = truth::make_truth(run);
  const Analysis analysis = analyze(truth.profile, methods.front().name);
  EXPECT_EQ(analysis.result().verdict, Verdict::red);
  EXPECT_LE(analysis.result().interval_percent.low, truth.interference_percent);
  EXPECT_GE(analysis.result().interval_percent.high, truth.interference_percent);
}

TEST(Parts, OfTheInterferenceAddUp) {
  truth::Run run = quiet(truth::Counter::instructions, 0.02);
  run.hits = 1.0;
  run.slowdown = 0.2;
  run.speed = {.pattern = truth::Speed::Pattern::random_switching, .factor = 1.4, .dwell_seconds = 2.0};
  const MethodResult result = analyzed(run).result();
  EXPECT_GT(result.speed_percent, 1.0);
  EXPECT_GT(result.instantaneous_percent(), 0.0);
  EXPECT_NEAR(result.instantaneous_percent() + result.continuous_percent + result.speed_percent,
              result.interference_percent, 1e-9);
}

TEST(KnownRuns, RaiseTheEstimateByWhatItHasNotFoundItself) {
  truth::Truth truth = truth::make_truth(quiet(truth::Counter::instructions, 0.01));
  const double run_time = truth.profile.run_time_seconds;
  truth.profile.known_runs = KnownRuns{.runs = 3,
                                       .displacement_seconds = 0.2 * run_time,
                                       .low_seconds = 0.19 * run_time,
                                       .high_seconds = 0.21 * run_time,
                                       .matched_seconds = run_time};
  const Analysis analysis = analyze(truth.profile, methods.front().name);
  EXPECT_NEAR(analysis.result().interference_percent, 20.0, 1.0);
  EXPECT_NEAR(analysis.result().continuous_percent, 20.0, 1.0);
  EXPECT_EQ(analysis.result().verdict, Verdict::red);
  double excess = 0.0;
  for (const float seconds : analysis.excess) excess += static_cast<double>(seconds);
  EXPECT_NEAR(excess, analysis.result().excess_seconds, 1e-3 * run_time);
}

TEST(Discrepancy, WidensMoreWhereMoreIsUnknown) {
  const Interval narrow = with_discrepancy({0.0, 0.0}, 0.0, 10.0);
  EXPECT_EQ(narrow.low, 0.0);
  EXPECT_NEAR(narrow.high, 0.01, 0.001);
  const Interval wide = with_discrepancy({1.0, 5.0}, 3.0, 10.0);
  EXPECT_LT(wide.low, 1.0);
  EXPECT_GT(wide.high, 5.5);
  EXPECT_LE(wide.high, 10.0);
}

}  // namespace
