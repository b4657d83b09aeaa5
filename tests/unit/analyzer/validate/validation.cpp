#include "analyzer/validate/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzer/estimate/estimators.hpp"
#include "analyzer/statistics/quantile.hpp"

namespace {

using namespace halcyon;

// Room enough for every wish: 1000 s in 10 000 segments of 1000 calls each.
const Calibration roomy{.run_time_seconds = 1000.0, .segments = 10'000, .ranks = 4, .calls = 1e7};

// Which third (or other part) of the logarithmic scale of hits a run lies in, as plan_runs divides it.
int band_of(const PlannedRun& run, int bands, int levels) {
  const double place = std::log(run.hits_per_segment / fewest_hits_per_segment) /
                       std::log(most_hits_per_segment / fewest_hits_per_segment);
  return static_cast<int>(std::lround(place * (bands * levels - 1))) / levels;
}

// All but the quiet runs, in their order.
std::vector<PlannedRun> noisy_runs(const std::vector<PlannedRun>& plan) {
  std::vector<PlannedRun> noisy;
  for (const PlannedRun& run : plan) {
    if (run.kind != RunKind::quiet) noisy.push_back(run);
  }
  return noisy;
}

// Never none, so that what a test says of each is said of something.
std::vector<PlannedRun> injected_runs(const Calibration& calibration, const PlanRequest& request) {
  std::vector<PlannedRun> injected;
  for (const PlannedRun& run : plan_runs(calibration, request)) {
    if (run.kind == RunKind::injected) injected.push_back(run);
  }
  EXPECT_EQ(injected.size(), static_cast<std::size_t>((request.levels - 1) * request.runs));
  return injected;
}

TEST(Plan, HasEveryLevelOnceInEveryRound) {
  const std::vector<PlannedRun> noisy =
      noisy_runs(plan_runs(roomy, {.levels = 6, .runs = 3, .disturbers = 0, .seed = 1}));
  ASSERT_EQ(noisy.size(), 15u);
  for (std::size_t round = 0; round < 3; ++round) {
    std::set<double> targets;
    for (std::size_t i = 5 * round; i < 5 * (round + 1); ++i) targets.insert(noisy[i].target_percent);
    EXPECT_EQ(targets.size(), 5u);
    EXPECT_DOUBLE_EQ(*targets.rbegin(), 45.0);
  }
}

// A for quiet, B for any other.
std::string letters(const PlanRequest& request) {
  std::string text;
  for (const PlannedRun& run : plan_runs(roomy, request)) text += run.kind == RunKind::quiet ? 'A' : 'B';
  return text;
}

TEST(Plan, HasAQuietRunBesideEveryOther) {
  EXPECT_EQ(letters({.levels = 3, .runs = 2, .disturbers = 1, .seed = 1}), "AAABBABBABBA");
  EXPECT_EQ(letters({.levels = 2, .runs = 3, .disturbers = 0, .seed = 1}), "AAABBABA");
  EXPECT_EQ(letters({.levels = 1, .runs = 2, .disturbers = 1, .seed = 1}), "AAABBA");
}

TEST(Plan, CoversTargetsAndHitsEvenly) {
  for (const int levels : {2, 3, 6, 7, 11}) {
    for (const int runs : {1, 2, 3, 5}) {
      std::set<std::pair<double, int>> pairs;
      std::set<double> hits;
      for (const PlannedRun& run : injected_runs(roomy, {.levels = levels, .runs = runs, .disturbers = 0, .seed = 1})) {
        pairs.insert({run.target_percent, band_of(run, runs, levels - 1)});
        hits.insert(run.hits_per_segment);
      }
      // Every level in every band, and no value twice.
      EXPECT_EQ(pairs.size(), static_cast<std::size_t>(runs * (levels - 1))) << levels << " levels, " << runs;
      EXPECT_EQ(hits.size(), static_cast<std::size_t>(runs * (levels - 1)));
    }
  }
}

TEST(Plan, ReachesFromOneHitInTwentySegmentsToSixteenInEach) {
  double least = 100.0;
  double most = 0.0;
  for (const PlannedRun& run : injected_runs(roomy, {.levels = 6, .runs = 3, .disturbers = 0, .seed = 1})) {
    least = std::min(least, run.hits_per_segment);
    most = std::max(most, run.hits_per_segment);
  }
  EXPECT_DOUBLE_EQ(least, 0.05);
  EXPECT_NEAR(most, 16.0, 1e-9);
}

// Pearson's coefficient of target and logarithm of the hits; 1 would make one stand for the other.
double correlation(const std::vector<PlannedRun>& plan) {
  std::vector<std::pair<double, double>> points;
  for (const PlannedRun& run : plan) {
    if (run.kind == RunKind::injected) points.emplace_back(run.target_percent, std::log(run.hits_per_segment));
  }
  const auto n = static_cast<double>(points.size());
  double x = 0.0;
  double y = 0.0;
  for (const auto& [target, hits] : points) {
    x += target / n;
    y += hits / n;
  }
  double xx = 0.0;
  double yy = 0.0;
  double xy = 0.0;
  for (const auto& [target, hits] : points) {
    xx += (target - x) * (target - x);
    yy += (hits - y) * (hits - y);
    xy += (target - x) * (hits - y);
  }
  return xy / std::sqrt(xx * yy);
}

TEST(Plan, DoesNotLetHitsGrowWithTheTarget) {
  EXPECT_LT(std::abs(correlation(plan_runs(roomy, {.levels = 6, .runs = 3, .disturbers = 0, .seed = 1}))), 0.2);
  EXPECT_LT(std::abs(correlation(plan_runs(roomy, {.levels = 6, .runs = 1, .disturbers = 0, .seed = 1}))), 0.7);
}

TEST(Plan, HasManyAndFewHitsInEveryRound) {
  const std::vector<PlannedRun> noisy =
      noisy_runs(plan_runs(roomy, {.levels = 6, .runs = 3, .disturbers = 0, .seed = 1}));
  for (std::size_t round = 0; round < 3; ++round) {
    std::set<int> bands;
    for (std::size_t i = 5 * round; i < 5 * (round + 1); ++i) bands.insert(band_of(noisy[i], 3, 5));
    EXPECT_EQ(bands.size(), 3u);
  }
}

TEST(Plan, AddsWhatTheTargetAsksFor) {
  for (const PlannedRun& run : injected_runs(roomy, {.levels = 6, .runs = 2, .disturbers = 0, .seed = 1})) {
    const double added = 10'000 * critical_hits(run.hits_per_segment, 4) * run.delay_seconds;
    EXPECT_NEAR(100.0 * added / (1000.0 + added), run.target_percent, 1e-9);
    EXPECT_NEAR(run.probability, run.hits_per_segment / 1000.0, 1e-12);
  }
}

TEST(Plan, IsTheSameForTheSameSeedAndShuffledForAnother) {
  const auto targets = [](std::uint64_t seed) {
    std::vector<double> result;
    for (const PlannedRun& run : plan_runs(roomy, {.levels = 6, .runs = 3, .disturbers = 0, .seed = seed})) {
      result.push_back(run.target_percent);
    }
    return result;
  };
  EXPECT_EQ(targets(1), targets(1));
  EXPECT_NE(targets(1), targets(2));
}

TEST(Plan, GivesEveryRunDrawsOfItsOwn) {
  std::set<std::uint64_t> seeds;
  for (const PlannedRun& run : plan_runs(roomy, {.levels = 4, .runs = 2, .disturbers = 1, .seed = 7}))
    seeds.insert(run.seed);
  EXPECT_EQ(seeds.size(), 15u);
}

TEST(Plan, HasEveryDisturberOnceInEveryRound) {
  const std::vector<PlannedRun> noisy =
      noisy_runs(plan_runs(roomy, {.levels = 2, .runs = 3, .disturbers = 2, .seed = 1}));
  ASSERT_EQ(noisy.size(), 9u);
  for (std::size_t round = 0; round < 3; ++round) {
    std::multiset<int> disturbers;
    for (std::size_t i = 3 * round; i < 3 * (round + 1); ++i) {
      if (noisy[i].kind == RunKind::disturbed) disturbers.insert(noisy[i].disturber);
    }
    EXPECT_EQ(disturbers, (std::multiset<int>{0, 1}));
  }
}

TEST(Plan, NeverDelaysMoreThanHalfOfTheCalls) {
  const Calibration few_calls{.run_time_seconds = 1000.0, .segments = 10'000, .ranks = 2, .calls = 4e4};
  double most = 0.0;
  for (const PlannedRun& run : injected_runs(few_calls, {.levels = 6, .runs = 3, .disturbers = 0, .seed = 1})) {
    most = std::max(most, run.probability);
  }
  EXPECT_NEAR(most, 0.5, 1e-9);  // and so many where more are wished for
}

TEST(Plan, TakesFewerHitsWhereDelaysWouldBeTooShort) {
  const Calibration fast{.run_time_seconds = 1.0, .segments = 20'000, .ranks = 2, .calls = 2e6};
  for (const PlannedRun& run : injected_runs(fast, {.levels = 6, .runs = 3, .disturbers = 0, .seed = 1})) {
    EXPECT_GE(run.delay_seconds, shortest_delay_seconds);
    const double added = 20'000 * critical_hits(run.hits_per_segment, 2) * run.delay_seconds;
    EXPECT_NEAR(100.0 * added / (1.0 + added), run.target_percent, 1e-9);
  }
}

TEST(Plan, NeverLeavesARunToAHandfulOfHits) {
  const Calibration few_segments{.run_time_seconds = 100.0, .segments = 60, .ranks = 2, .calls = 6e4};
  for (const PlannedRun& run : injected_runs(few_segments, {.levels = 6, .runs = 3, .disturbers = 0, .seed = 1})) {
    EXPECT_GE(60.0 * run.hits_per_segment, 10.0 - 1e-9);
  }
}

// Of two Poisson variables X, Y of mean 8, E max = 8 + E|X - Y| / 2, with E|X - Y| = 16 exp(-16) (I0(16) + I1(16))
// (J. G. Skellam, 1946): 9.58315.
TEST(CriticalHits, AreThoseOfTheRankThatIsHitMostOften) {
  EXPECT_NEAR(critical_hits(4.0, 1), 4.0, 1e-9);
  EXPECT_NEAR(critical_hits(16.0, 2), 9.58315, 1e-5);
  EXPECT_NEAR(critical_hits(1.0, 1'000'000), 1.0 - std::exp(-1.0), 1e-3);
  EXPECT_NEAR(critical_hits(0.1, 512), 1.0 - std::exp(-0.1), 1e-3);  // hardly ever two on one rank
}

// P(7.5) = 1 / (1 + exp(1.3125)) = 0.21207, P(15) = 0.78793.
TEST(SoftAccuracy, IsOneLessTheDifferenceOfProbabilities) {
  EXPECT_DOUBLE_EQ(soft_accuracy(20.0, 20.0), 1.0);
  EXPECT_NEAR(soft_accuracy(7.5, 15.0), 0.42414, 1e-5);
  EXPECT_DOUBLE_EQ(soft_accuracy(7.5, 15.0), soft_accuracy(15.0, 7.5));
  EXPECT_GT(soft_accuracy(40.0, 60.0), 0.9999);  // twenty points apart, and of one mind
}

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  const std::vector<double> values{4.0, 1.0, 3.0, 2.0};
  EXPECT_DOUBLE_EQ(quantile(values, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 1.0), 4.0);
  EXPECT_DOUBLE_EQ(quantile({7.0}, 0.05), 7.0);
}

ValidatedRun run_of(RunKind kind, double seconds, double estimate, Verdict verdict, Interval interval) {
  ValidatedRun run;
  run.plan.kind = kind;
  run.run_time_seconds = seconds;
  for (const Method& method : methods) {
    run.methods.push_back(
        {.name = method.name, .interference_percent = estimate, .interval_percent = interval, .verdict = verdict});
  }
  return run;
}

// The fastest takes 10 s; 12.5 s are 20 % more in percent of themselves, of which medians explain half a second.
std::vector<ValidatedRun> some_runs() {
  std::vector<ValidatedRun> runs{run_of(RunKind::injected, 12.5, 15.0, Verdict::yellow, {10.0, 19.0}),
                                 run_of(RunKind::quiet, 10.0, 0.0, Verdict::green, {0.0, 1.0}),
                                 run_of(RunKind::disturbed, 20.0, 0.0, Verdict::unknown, {0.0, 100.0})};
  runs[0].displacement_seconds = 0.5;
  return runs;
}

TEST(Truth, IsTheTimeBeyondTheFastestRunInPercentOfTheRunsOwn) {
  const Validation validation = summarise(some_runs());
  EXPECT_EQ(validation.fastest, 1u);
  EXPECT_DOUBLE_EQ(validation.runs[0].truth(Truth::measured)->percent, 20.0);
  EXPECT_DOUBLE_EQ(validation.runs[0].truth(Truth::without_displacement)->percent, 16.0);
  EXPECT_DOUBLE_EQ(validation.runs[1].truth(Truth::measured)->percent, 0.0);
  EXPECT_DOUBLE_EQ(validation.runs[2].truth(Truth::measured)->percent, 50.0);
  EXPECT_FALSE(validation.runs[0].truth(Truth::with_background));
}

// 4 % of the fastest run's 10 s were the background's: (2.5 + 0.4) / 12.5.
TEST(Truth, CountsFromWhatTheFastestRunWouldHaveTakenWithoutTheBackground) {
  std::vector<ValidatedRun> runs = some_runs();
  runs[0].background = Background{.before_percent = 7.0, .after_percent = 9.0};
  runs[1].background = Background{.before_percent = 3.0, .after_percent = 5.0};
  runs[2].background = Background{.before_percent = 30.0, .after_percent = 30.0};  // the disturber's
  const Validation validation = summarise(std::move(runs));
  EXPECT_DOUBLE_EQ(*validation.background_percent, 6.0);  // the machine's: median of 8 and 4
  EXPECT_NEAR(validation.runs[0].truth(Truth::with_background)->percent, 23.2, 1e-9);
  EXPECT_NEAR(validation.runs[1].truth(Truth::with_background)->percent, 4.0, 1e-9);
}

// A run every second. Times are those of the machine's speed, which is that of the quantum, times the shares above what
// a quiet run would have taken.
struct Made {
  RunKind kind;
  double seconds;
  double quantum = 1e-4;
};
std::vector<ValidatedRun> made(const std::vector<Made>& series) {
  std::vector<ValidatedRun> runs;
  for (const Made& of : series) {
    ValidatedRun run = run_of(of.kind, of.seconds, 0.0, Verdict::green, {0.0, 1.0});
    run.middle_seconds = static_cast<double>(runs.size());
    run.background = Background{.before_percent = 1.0, .after_percent = 1.0, .quantum_seconds = of.quantum};
    runs.push_back(run);
  }
  return runs;
}
constexpr RunKind A = RunKind::quiet;
constexpr RunKind B = RunKind::disturbed;

TEST(TruthByPairs, IsFreeOfADriftThatIsSteady) {
  // Quiet 10, 11, ... 16 s; the four others take twice as long as they would have.
  const Validation validation = summarise(made({{A, 10}, {B, 22}, {B, 24}, {A, 13}, {B, 28}, {B, 30}, {A, 16}}));
  for (const std::size_t disturbed : {1u, 2u, 4u, 5u}) {
    EXPECT_NEAR(validation.runs[disturbed].truth(Truth::paired)->percent, 50.0, 1e-9);
  }
  EXPECT_NEAR(validation.runs[3].truth(Truth::paired)->percent, 0.0, 1e-9);
  EXPECT_GT(validation.runs[5].truth(Truth::measured)->percent, 60.0);
}

TEST(TruthByPairs, CountsInQuantaWhereTheMachineChangesItsSpeed) {
  const Validation validation = summarise(
      made({{A, 10}, {A, 14, 1.4e-4}, {A, 10}, {B, 28, 1.4e-4}, {B, 20}, {A, 17, 1.7e-4}, {B, 20}, {A, 11, 1.1e-4}}));
  EXPECT_TRUE(validation.paired_at_equal_speed);
  for (const std::size_t disturbed : {3u, 4u, 6u}) {
    EXPECT_NEAR(validation.runs[disturbed].truth(Truth::paired)->percent, 50.0, 1e-9);
    EXPECT_NEAR(*validation.runs[disturbed].truth(Truth::paired)->uncertainty_points, 0.0, 1e-9);
  }
}

TEST(TruthByPairs, CountsInSecondsWhereQuantaSayNothing) {
  EXPECT_FALSE(summarise(made({{A, 10, 1.2e-4}, {A, 10, 1e-4}, {A, 10, 1.4e-4}, {B, 20, 1e-4}, {A, 10, 1e-4}}))
                   .paired_at_equal_speed);
}

TEST(TruthByPairs, NeedsAQuietRunOnEitherSideOfADisturbedOne) {
  const Validation validation = summarise(made({{B, 20}, {A, 10}, {A, 10}, {B, 20}, {A, 10}, {B, 20}}));
  EXPECT_FALSE(validation.runs[0].truth(Truth::paired));
  EXPECT_TRUE(validation.runs[3].truth(Truth::paired));
  EXPECT_FALSE(validation.runs[5].truth(Truth::paired));
}

TEST(TruthByPairs, IsKnownAsWellAsQuietRunsAgree) {
  const Validation validation = summarise(made({{A, 10}, {A, 11}, {A, 10}, {B, 21}, {A, 11}}));
  const KnownTruth truth = *validation.runs[3].truth(Truth::paired);
  EXPECT_NEAR(truth.percent, 50.0, 1e-9);
  const std::vector<double> ratios{10.0 / 11.0, 11.0 / 10.0, 10.0 / 11.0, 11.0 / 10.0};
  double mean = 0.0;
  double squares = 0.0;
  for (const double ratio : ratios) mean += std::log(ratio) / 4.0;
  for (const double ratio : ratios) squares += (std::log(ratio) - mean) * (std::log(ratio) - mean);
  EXPECT_NEAR(*truth.uncertainty_points, 100.0 * 2.35336 * std::sqrt(squares / 3.0) * 0.5, 1e-3);  // t(0.95, 3)
}

TEST(TruthByPairs, IsNotSaidToBeKnownFromTwoQuietRuns) {
  EXPECT_FALSE(summarise(made({{A, 10}, {B, 20}, {A, 10}})).runs[1].truth(Truth::paired)->uncertainty_points);
}

TEST(Noise, OfAQuietMachineIsNoObjection) {
  EXPECT_FALSE(objection_to(summarise(made({{A, 10}, {A, 10.1}, {A, 10}})).noise));
  EXPECT_FALSE(objection_to(Noise{}));  // nothing is known
}

TEST(Noise, IsAnObjectionWhereOthersTakeTheProcessors) {
  std::vector<ValidatedRun> runs = made({{A, 10}, {A, 10}, {A, 10}, {B, 20}, {A, 10}});
  for (ValidatedRun& run : runs) run.background->before_percent = run.background->after_percent = 79.0;
  const std::optional<std::string> objection = objection_to(summarise(runs).noise);
  ASSERT_TRUE(objection);
  EXPECT_NE(objection->find("79 %"), std::string::npos) << *objection;
}

TEST(Noise, BesideADisturberIsTheDisturbers) {
  std::vector<ValidatedRun> runs = made({{A, 10}, {A, 10}, {A, 10}, {B, 20}, {A, 10}});
  runs[3].background->before_percent = runs[3].background->after_percent = 79.0;
  EXPECT_FALSE(objection_to(summarise(runs).noise));
}

TEST(Noise, IsAnObjectionWhereQuietRunsDifferBeyondDoubt) {
  // Three runs tell a spread of some percent only roughly; a machine that changes by half is plain.
  EXPECT_FALSE(objection_to(summarise(made({{A, 10}, {A, 10.3}, {A, 10}})).noise));
  EXPECT_TRUE(objection_to(summarise(made({{A, 10}, {A, 17}, {A, 12}})).noise));
  const Validation many = summarise(made(
      {{A, 10}, {A, 11}, {A, 10}, {A, 11}, {A, 10}, {A, 11}, {A, 10}, {A, 11}, {A, 10}, {A, 11}, {A, 10}, {A, 11}}));
  EXPECT_TRUE(objection_to(many.noise));
}

TEST(Noise, OfSpeedAloneIsNoObjectionWhereQuantaTellIt) {
  EXPECT_FALSE(objection_to(summarise(made({{A, 10}, {A, 17, 1.7e-4}, {A, 12, 1.2e-4}})).noise));
}

TEST(Summary, CountsJudgedRunsOnly) {
  const Validation validation = summarise(some_runs());
  ASSERT_EQ(validation.summaries.size(), 2 * methods.size());  // no background, and no quiet neighbours
  const MethodSummary& summary = validation.summaries.front();
  EXPECT_EQ(summary.method, methods.front().name);
  EXPECT_EQ(summary.truth, Truth::measured);
  ASSERT_EQ(summary.accuracy.size(), 2u);
  EXPECT_NEAR(summary.accuracy[0], soft_accuracy(20.0, 15.0), 1e-12);
  EXPECT_DOUBLE_EQ(summary.accuracy[1], 1.0);
  EXPECT_DOUBLE_EQ(summary.difference_points[0], 5.0);
}

TEST(Summary, CountsIntervalsThatHoldTheTruth) {
  const Validation validation = summarise(some_runs());
  EXPECT_EQ(validation.summaries[0].covered, 1u);  // 20 lies beyond 19
  EXPECT_EQ(validation.summaries[1].covered, 2u);  // 16 does not
}

TEST(Summary, CountsIntervalsThatComeAsNearAsTheTruthIsKnown) {
  // Truth 50 ± 1.2 % or so; the interval ends at 49.5.
  std::vector<ValidatedRun> runs = made({{A, 10}, {A, 10.1}, {A, 10}, {B, 20}, {A, 10}});
  for (MethodResult& result : runs[3].methods) result.interval_percent = {45.0, 49.5};
  const Validation validation = summarise(runs);
  const Score score = *score_of(validation.runs[3], 0, Truth::paired);
  EXPECT_FALSE(score.covered);
  EXPECT_TRUE(score.reached);
}

}  // namespace
