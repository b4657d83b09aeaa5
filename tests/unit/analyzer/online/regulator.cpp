#include "analyzer/online/regulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace halcyon {
namespace {

ProgressOfMetrics of(double one) { return ProgressOfMetrics::Constant(1, one); }
ProgressOfMetrics of(double one, double two) { return (ProgressOfMetrics(2) << one, two).finished(); }

// 750 kB/s and 120 indices/s: 60 kB and 5 indices take 80 ms and 42 ms (section 4.4).
TEST(TargetRates, AreThoseOfTheWorkedExample) {
  TargetRates targets(2, {.ridge = 0.0});
  for (const auto& progress : {of(75.0, 2.0), of(10.0, 30.0), of(40.0, 12.0)}) {
    targets.add(progress, progress[0] / 750.0 + progress[1] / 120.0);
  }
  EXPECT_NEAR(targets.target_seconds(of(60.0, 0.0)), 0.080, 1e-12);
  EXPECT_NEAR(targets.target_seconds(of(0.0, 5.0)), 0.0416667, 1e-7);
  const double target = targets.target_seconds(of(60.0, 5.0));
  EXPECT_NEAR(target, 0.122, 0.001);
  EXPECT_GE(target, 0.120);  // so 120 ms are good progress
}

TEST(TargetRates, OfOneMetricAreTheExponentialAverage) {
  TargetRates targets(1, {.averaged_testpoints = 4.0});
  double rate = 0.0;
  for (int i = 1; i <= 20; ++i) {
    const double seen = 100.0 + i;
    targets.add(of(seen), 1.0);
    const double keep = i < 4 ? (i - 1.0) / i : 0.75;  // xi = (n - 1) / n
    rate = keep * rate + (1.0 - keep) * seen;
    EXPECT_NEAR(targets.learned().rate, rate, 1e-9);
  }
  EXPECT_NEAR(targets.target_seconds(of(rate)), 1.0, 1e-12);
}

TEST(TargetRates, AreKnownEvenIfMetricsGoTogether) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0.0, 0.01);
  TargetRates targets(2, {});
  for (int i = 0; i < 1000; ++i) {
    const double work = 1.0 + 0.1 * (i % 7);
    targets.add(of(work, 1e6 * work * (1.0 + 1e-3 * noise(random))), work * (1.0 + noise(random)));
  }
  EXPECT_NEAR(targets.target_seconds(of(1.5, 1.5e6)), 1.5, 0.005);
  EXPECT_GE(targets.seconds_per_unit().minCoeff(), 0.0);
}

TEST(TargetRates, OfAMetricThatTakesNoTimeDoNotSpoilTheOthers) {
  TargetRates targets(3, {.ridge = 0.0});
  for (int i = 0; i < 50; ++i) {
    ProgressOfMetrics progress(3);
    progress << 1.0 + i % 3, 5.0 - i % 4, 0.0;
    targets.add(progress, 0.2 * progress[0] - 0.001 * progress[1]);
  }
  EXPECT_EQ(targets.seconds_per_unit()[1], 0.0);
  EXPECT_EQ(targets.seconds_per_unit()[2], 0.0);
  EXPECT_NEAR(targets.seconds_per_unit()[0], 0.2, 0.005);
}

TEST(TargetRates, GoOnFromWhatWasKept) {
  TargetRates first(2, {});
  for (int i = 0; i < 100; ++i) first.add(of(1.0 + i % 3, 2.0 + i % 5), 0.1 * (1.0 + i % 3) + 0.2 * (2.0 + i % 5));
  const TargetRates second(first.learned(), 2, {});
  EXPECT_EQ(first.seconds_per_unit(), second.seconds_per_unit());
}

constexpr RegulatorSettings brief{
    .first_suspension_seconds = 1.0, .most_suspension_seconds = 8.0, .bootstrap_testpoints = 10};

/// A program that makes one unit of progress in a second when nothing contends with it.
struct Program {
  Regulator regulator;
  double now = 0.0;
  double units = 0.0;

  explicit Program(const RegulatorSettings& settings, std::optional<LearnedRates> kept = {})
      : regulator(settings, 1, std::move(kept)) {
    regulator.runs(now, of(units));
  }
  Regulation step(double seconds) {
    now += seconds;
    units += 1.0;
    const Regulation regulation = *regulator.testpoint(now, of(units));
    if (!regulation.goes_on()) {
      now += regulation.suspend_seconds;
      regulator.runs(now, of(units));
    }
    return regulation;
  }
  double seconds_until_suspended(double step_seconds) {
    for (int i = 0; i < 100; ++i) {
      const double before = now;
      if (const Regulation regulation = step(step_seconds); !regulation.goes_on()) return regulation.suspend_seconds;
      EXPECT_LT(before, now);
    }
    return 0.0;
  }
};

TEST(Regulator, OnlyCalibratesAtFirst) {
  Program program(brief);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(program.regulator.phase(), RegulatorPhase::bootstrap);
    EXPECT_TRUE(program.step(1.0 + i).goes_on());
  }
  EXPECT_EQ(program.regulator.phase(), RegulatorPhase::regulated);
}

TEST(Regulator, SuspendsForTwiceAsLongEachTimeUpToTheLimit) {
  Program program(brief);
  for (int i = 0; i < 10; ++i) program.step(1.0);
  for (const double suspension : {1.0, 2.0, 4.0, 8.0, 8.0}) {
    EXPECT_EQ(program.seconds_until_suspended(1.5), suspension);
  }
  EXPECT_LE(program.regulator.next_suspension_seconds(), 8.0);
}

TEST(Regulator, ForgetsSuspensionsAfterGoodProgress) {
  Program program(brief);
  for (int i = 0; i < 10; ++i) program.step(1.0);
  program.seconds_until_suspended(1.5);
  program.seconds_until_suspended(1.5);
  program.step(0.9);
  program.step(0.9);
  EXPECT_EQ(program.regulator.next_suspension_seconds(), 4.0);  // still undecided
  EXPECT_EQ(program.step(0.9).judgment, Judgment::good);
  EXPECT_EQ(program.regulator.next_suspension_seconds(), 1.0);
}

TEST(Regulator, JudgesProgressOnTargetAsGood) {
  Program program(brief);
  for (int i = 0; i < 10; ++i) program.step(1.0);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(program.step(1.0).goes_on());
}

TEST(Regulator, DoesNotCountSuspendedTime) {
  Program program(brief);
  for (int i = 0; i < 10; ++i) program.step(1.0);
  program.seconds_until_suspended(1.5);
  const double rate = program.regulator.targets().learned().rate;
  EXPECT_GT(rate, 0.8);
  EXPECT_LT(rate, 1.0);
}

TEST(Regulator, WaitsForProgress) {
  Regulator regulator(brief, 1);
  regulator.runs(0.0, of(0.0));
  EXPECT_FALSE(regulator.testpoint(1.0, of(0.0)));
  EXPECT_FALSE(regulator.testpoint(0.1, of(1.0)));  // too early
  EXPECT_TRUE(regulator.testpoint(2.0, of(4.0)));
  EXPECT_EQ(regulator.targets().learned().rate, 2.0);
}

TEST(Regulator, LimitsTheSpeedOnProbation) {
  RegulatorSettings settings = brief;
  settings.probation_seconds = 100.0;
  settings.probation_share = 0.25;
  Program program(settings);
  for (int i = 0; i < 10; ++i) program.step(1.0);
  EXPECT_EQ(program.regulator.phase(), RegulatorPhase::probation);
  const double begun = program.now;
  const double units = program.units;
  while (program.regulator.phase() == RegulatorPhase::probation) program.step(1.0);
  EXPECT_NEAR((program.units - units) / (program.now - begun), 0.25, 0.02);
  EXPECT_TRUE(program.step(1.0).goes_on());
}

TEST(Regulator, NeedsNoBootstrapWithKeptTargets) {
  Program first(brief);
  for (int i = 0; i < 20; ++i) first.step(1.0);
  Program second(brief, first.regulator.targets().learned());
  EXPECT_EQ(second.regulator.phase(), RegulatorPhase::regulated);
  EXPECT_EQ(second.seconds_until_suspended(1.5), 1.0);
  EXPECT_EQ(second.units, 5.0);
}

TEST(Regulator, SuspendsAtOnceIfItsRanksWaitForCpusThatOthersHave) {
  RegulatorSettings settings = brief;
  settings.tolerance = 0.1;
  Regulator regulator(settings, 1);
  regulator.runs(0.0, of(0.0));
  EXPECT_TRUE(regulator.testpoint(1.0, of(1.0), 0.09)->goes_on());
  const Regulation regulation = *regulator.testpoint(3.0, of(2.0), 0.5);  // even before its usual progress is known
  EXPECT_EQ(regulation.suspend_seconds, 1.0);
  EXPECT_TRUE(regulation.waited_for_cpus);
  EXPECT_EQ(regulator.testpoint(6.0, of(3.0), 0.5)->suspend_seconds, 1.0);  // not twice as long
  EXPECT_EQ(regulator.targets().learned().testpoints, 1U);  // nothing is learned from disturbed progress
}

TEST(Regulator, WithoutToleranceJudgesByProgressAlone) {
  Regulator regulator(brief, 1);
  regulator.runs(0.0, of(0.0));
  EXPECT_TRUE(regulator.testpoint(1.0, of(1.0), 0.5)->goes_on());
}

}  // namespace
}  // namespace halcyon
