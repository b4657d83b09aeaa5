#include "analyzer/online/interference_so_far.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace halcyon {
namespace {

/// Durations around 20 ms with delays, in bins of 2 %.
struct SimulatedKind {
  double usual = 0.02;
  double jitter = 0.005;
  double delayed = 0.0;  // share of the segments
  double delay = 0.0;    // s, mean
  double excess = 0.0;   // s, of all segments so far
  KindOfSegments kind;
  std::mt19937_64 random{1};

  SimulatedKind() {
    for (double edge = 0.25 * usual; edge < 16.0 * usual; edge *= 1.02) kind.durations.edges.push_back(edge);
    kind.durations.counts.resize(kind.durations.edges.size() - 1);
  }
  void run(int segments) {
    std::normal_distribution<double> own(1.0, jitter);
    std::bernoulli_distribution hit(delayed);
    std::exponential_distribution<double> delays(1.0);
    for (int i = 0; i < segments; ++i) {
      const double added = hit(random) ? delay * delays(random) : 0.0;
      excess += added;
      add(usual * own(random) + added);
    }
  }
  void add(double seconds) {
    DurationHistogram& histogram = kind.durations;
    kind.seconds += seconds;
    const auto above = std::upper_bound(histogram.edges.begin(), histogram.edges.end(), seconds);
    if (above == histogram.edges.begin()) {
      ++histogram.below;
      histogram.below_seconds += seconds;
    } else if (above == histogram.edges.end()) {
      ++histogram.above;
      histogram.above_seconds += seconds;
    } else {
      ++histogram.counts[static_cast<std::size_t>(above - histogram.edges.begin() - 1)];
    }
  }
  double true_percent() const { return 100.0 * excess / kind.seconds; }
};

std::optional<InterferenceSoFar> judge(const std::vector<KindOfSegments>& kinds) {
  double seconds = 0.0;
  for (const KindOfSegments& kind : kinds) seconds += kind.seconds;
  DurationLaws laws;
  return interference_so_far(kinds, seconds, laws);
}

TEST(InterferenceSoFar, OfAQuietRunIsNearZero) {
  SimulatedKind simulated;
  simulated.run(2000);
  const auto so_far = judge({simulated.kind});
  ASSERT_TRUE(so_far);
  EXPECT_LT(so_far->percent, 2.0);
  EXPECT_EQ(so_far->interval_percent.low, 0.0);
  EXPECT_LT(so_far->interval_percent.high, 7.5);
  EXPECT_NEAR(so_far->kinds.front().baseline, 0.02, 0.0004);
  EXPECT_NEAR(so_far->coverage_percent, 100.0, 1e-9);
}

TEST(InterferenceSoFar, HoldsTheTruth) {
  for (const double delayed : {0.1, 0.4, 0.8}) {
    SimulatedKind simulated;
    simulated.delayed = delayed;
    simulated.delay = 0.03;
    simulated.run(2000);
    const auto so_far = judge({simulated.kind});
    ASSERT_TRUE(so_far);
    EXPECT_NEAR(so_far->percent, simulated.true_percent(), 6.0) << delayed;
    EXPECT_LE(so_far->interval_percent.low, simulated.true_percent()) << delayed;
    EXPECT_GE(so_far->interval_percent.high, simulated.true_percent()) << delayed;
  }
}

TEST(InterferenceSoFar, IsKnownBetterAsTheRunGoesOn) {
  SimulatedKind simulated;
  simulated.jitter = 0.05;
  simulated.delayed = 0.5;
  simulated.delay = 0.004;
  const auto width_after = [&simulated](int more) {
    simulated.run(more);
    const auto so_far = judge({simulated.kind});
    return so_far ? so_far->interval_percent.high - so_far->interval_percent.low : 0.0;
  };
  const double early = width_after(12);
  const double late = width_after(3000);
  EXPECT_GT(early, 1.5 * late);
}

TEST(InterferenceSoFar, AddsUpOverKinds) {
  SimulatedKind disturbed;
  disturbed.delayed = 0.2;
  disturbed.delay = 0.05;
  disturbed.run(1000);
  SimulatedKind rare;
  rare.run(3);
  const auto so_far = judge({disturbed.kind, rare.kind});
  ASSERT_TRUE(so_far);
  EXPECT_TRUE(so_far->kinds[0].is_judged);
  EXPECT_FALSE(so_far->kinds[1].is_judged);
  const double seconds = disturbed.kind.seconds;
  EXPECT_NEAR(so_far->percent, 100.0 * so_far->kinds[0].excess_seconds / seconds, 1e-9);
  EXPECT_NEAR(so_far->coverage_percent, 100.0 * seconds / (seconds + rare.kind.seconds), 1e-9);
}

TEST(InterferenceSoFar, IsUnknownWithoutRepeatedSegments) {
  SimulatedKind simulated;
  simulated.run(4);
  EXPECT_FALSE(judge({simulated.kind}));
  EXPECT_FALSE(judge({}));
}

TEST(InterferenceSoFar, CountsDelaysThatAreLongerThanAllBins) {
  SimulatedKind simulated;
  simulated.run(1000);
  for (int i = 0; i < 10; ++i) simulated.add(2.0);
  simulated.excess = 10 * 1.98;
  const auto so_far = judge({simulated.kind});
  ASSERT_TRUE(so_far);
  EXPECT_NEAR(so_far->percent, simulated.true_percent(), 2.0);
}

TEST(InterferenceSoFar, OfManySegmentsIsThatOfFewerAlike) {
  SimulatedKind few;
  few.delayed = 0.3;
  few.delay = 0.02;
  few.run(10'000);
  KindOfSegments many = few.kind;
  many.seconds *= 100.0;
  for (std::uint64_t& count : many.durations.counts) count *= 100;
  const auto of_few = judge({few.kind});
  const auto of_many = judge({many});
  ASSERT_TRUE(of_few && of_many);
  EXPECT_NEAR(of_few->percent, of_many->percent, 1.5);
}

}  // namespace
}  // namespace halcyon
