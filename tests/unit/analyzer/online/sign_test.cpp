#include "analyzer/online/sign_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace halcyon {
namespace {

using Thresholds = std::vector<std::pair<std::size_t, std::size_t>>;  // samples, below

// Section 6.1: progress is poor if at least this number of `samples` is below the target. None if there are too few
// samples, even if all of them are below.
std::optional<std::size_t> poor_threshold(std::size_t samples, double alpha) {
  std::optional<std::size_t> threshold;
  for (std::size_t below = samples + 1; below-- > 0 && chance_of_at_least(below, samples) <= alpha;) threshold = below;
  return threshold;
}

// Progress is good if at most this number is below the target.
std::optional<std::size_t> good_threshold(std::size_t samples, double beta) {
  std::optional<std::size_t> threshold;
  for (std::size_t below = 0; below <= samples && chance_of_at_most(below, samples) <= beta; ++below) threshold = below;
  return threshold;
}

// Equation 1: the fewest samples that can be judged poor.
std::size_t least_samples_for_poor(double alpha) { return static_cast<std::size_t>(std::ceil(-std::log2(alpha))); }

// Equation 2, while progress is good: the chance that `poor` poor judgments have come since the last good one.
double chance_of_poor_in_a_row(std::size_t poor, const SignTestSettings& settings) {
  const double sum = settings.alpha + settings.beta;
  return settings.beta / sum * std::pow(settings.alpha / sum, static_cast<double>(poor));
}

// Equation 3, while progress is good: the share of the time in which a program is suspended, if the first suspension
// takes as long as a sample and each further one twice as long. None unless alpha < beta: it would grow without limit.
std::optional<double> suspended_share(const SignTestSettings& settings) {
  if (settings.alpha >= settings.beta) return std::nullopt;
  return settings.alpha * settings.beta /
         (static_cast<double>(least_samples_for_poor(settings.alpha)) * (settings.beta - settings.alpha));
}

// The figures of the paper's constants, alpha 0.05 and beta 0.2.
TEST(SignTest, HasTheThresholdsOfThePaper) {
  for (const auto& [samples, below] :
       Thresholds{{5, 5}, {6, 6}, {7, 7}, {8, 7}, {10, 9}, {15, 12}, {20, 15}, {30, 20}, {40, 26}}) {
    EXPECT_EQ(poor_threshold(samples, 0.05), below) << samples;
  }
  for (const auto& [samples, below] :
       Thresholds{{3, 0}, {5, 1}, {8, 2}, {10, 3}, {15, 5}, {20, 7}, {30, 12}, {40, 16}}) {
    EXPECT_EQ(good_threshold(samples, 0.2), below) << samples;
  }
}

TEST(SignTest, NeedsFiveSamplesForPoorAndThreeForGood) {
  EXPECT_EQ(least_samples_for_poor(0.05), 5U);
  EXPECT_EQ(poor_threshold(4, 0.05), std::nullopt);
  EXPECT_EQ(good_threshold(2, 0.2), std::nullopt);
  SignTest test({});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(test.add(true), Judgment::undecided);
  EXPECT_EQ(test.add(true), Judgment::poor);
  EXPECT_EQ(test.samples(), 0U);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(test.add(false), Judgment::undecided);
  EXPECT_EQ(test.add(false), Judgment::good);
}

TEST(SignTest, SuspendsAsMuchAsThePaperSays) {
  EXPECT_NEAR(*suspended_share({}), 0.01 / 0.75, 1e-12);
  EXPECT_NEAR(chance_of_poor_in_a_row(0, {}), 0.8, 1e-12);
  EXPECT_NEAR(chance_of_poor_in_a_row(2, {}), 0.8 * 0.04, 1e-12);
  double share = 0.0;  // equation 3 is the mean of 2^k alpha / m
  for (std::size_t k = 0; k < 60; ++k) share += chance_of_poor_in_a_row(k, {}) * std::exp2(k) * 0.05 / 5.0;
  EXPECT_NEAR(share, *suspended_share({}), 1e-12);
  EXPECT_EQ(suspended_share({.alpha = 0.2, .beta = 0.2}), std::nullopt);
}

// The chance that a test has ended with "poor" after so many samples if half of them are below the target.
double chance_of_ending_poor(const SignTestSettings& settings, std::size_t looks) {
  std::vector<double> chances{1.0};  // (below) that the test is still undecided
  double poor = 0.0;
  for (std::size_t samples = 1; samples <= looks; ++samples) {
    std::vector<double> next(samples + 1, 0.0);
    for (std::size_t below = 0; below < samples; ++below) {
      next[below] += 0.5 * chances[below];
      next[below + 1] += 0.5 * chances[below];
    }
    const auto poor_from = poor_threshold(samples, settings.alpha);
    const auto good_to = good_threshold(samples, settings.beta);
    for (std::size_t below = 0; below <= samples; ++below) {
      const bool is_poor = poor_from && below >= *poor_from;
      if (is_poor) poor += next[below];
      if (is_poor || (good_to && below <= *good_to)) next[below] = 0.0;
    }
    chances = std::move(next);
  }
  return poor;
}

TEST(SignTest, EndsPoorIn23PercentOfTheTestsIfAlphaHoldsForEachLook) {
  EXPECT_NEAR(chance_of_ending_poor({}, 400), 0.230, 0.001);
}

TEST(SpentAlpha, AddsUpToAlpha) {
  double sum = 0.0;
  constexpr std::size_t tests = 100'000;
  for (std::size_t test = 1; test <= tests; ++test) sum += spent_alpha(test, 0.05);
  EXPECT_NEAR(sum, 0.05 * (1.0 - std::log(2.0) / std::log(tests + 2.0)), 1e-12);
  EXPECT_GT(spent_alpha(tests, 0.05), 1e-9);
}

// By Ville's inequality, it must have a mean of 1 after any number of samples.
TEST(SpentAlpha, RestsOnEvidenceOfMeanOne) {
  for (const std::size_t samples : {1U, 7U, 40U}) {
    double mean = 0.0;
    for (std::size_t below = 0; below <= samples; ++below) {
      const double chance =
          chance_of_at_most(below, samples) - (below > 0 ? chance_of_at_most(below - 1, samples) : 0.0);
      mean += chance * std::exp(log_evidence_of_poor(below, samples));
    }
    EXPECT_NEAR(mean, 1.0, 1e-9) << samples;
  }
}

TEST(SpentAlpha, RarelyCallsAQuietRunDisturbedHoweverLongItRuns) {
  constexpr int runs = 200;
  constexpr int samples = 20'000;
  int wrong = 0;
  for (int run = 0; run < runs; ++run) {
    std::mt19937_64 random(static_cast<std::uint64_t>(run));
    SignTest test({.spends_alpha = true});
    bool is_poor = false;
    for (int i = 0; i < samples && !is_poor; ++i) is_poor = test.add((random() >> 63) != 0) == Judgment::poor;
    wrong += is_poor ? 1 : 0;
  }
  EXPECT_LE(wrong, runs / 20);
}

TEST(SpentAlpha, StillSeesADisturbanceAfterDays) {
  SignTest test({.spends_alpha = true});
  for (int i = 0; i < 300'100; ++i) test.add(i % 2 == 0);
  int samples = 1;
  while (test.add(true) != Judgment::poor) ASSERT_LT(++samples, 100);
}

}  // namespace
}  // namespace halcyon
