#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "analyzer/online/phase_rate.hpp"
#include "analyzer/online/sampling_period.hpp"
#include "analyzer/online/service_rate.hpp"

namespace halcyon {
namespace {

TEST(SamplingPeriod, IsWidenedUntilSleepsTakeAsLongAsTheyShould) {
  SamplingPeriod period({.first_seconds = 1e-3, .step_seconds = 1e-3});
  int looks = 0;
  while (!period.is_fixed() && ++looks < 1000) period.observe(period.seconds() + 50e-6);  // each sleep is 50 us late
  EXPECT_NEAR(period.seconds(), 10e-3, 1e-9);                                             // 0.5 % of it are 50 us
  EXPECT_EQ(looks, 9 * 5 + 5);
  period.observe(1.0);
  EXPECT_NEAR(period.seconds(), 10e-3, 1e-9);
}

TEST(SamplingPeriod, NeedsSuccessesInARow) {
  SamplingPeriod period({.first_seconds = 1.0});
  for (int i = 0; i < 40; ++i) period.observe(i % 5 == 4 ? 1.1 : 1.0);
  EXPECT_FALSE(period.is_fixed());
  EXPECT_EQ(period.seconds(), 1.0);
}

TEST(ServiceRate, FiltersWithTheKernelsOfThePaper) {
  const auto filter = gaussian_filter();
  EXPECT_NEAR(std::accumulate(filter.begin(), filter.end(), 0.0), 1.0, 1e-12);
  EXPECT_NEAR(0.99087 * filter[2], 0.39894, 1e-5);
  EXPECT_NEAR(0.99087 * filter[0], 0.05399, 1e-5);
  const auto laplacian = [](double x) {
    constexpr double deviation = 0.5;
    return (x * x - deviation * deviation) / (std::sqrt(2.0 * M_PI) * std::pow(deviation, 5)) *
           std::exp(-x * x / (2.0 * deviation * deviation));
  };
  const double mean = (laplacian(-1.0) + laplacian(0.0) + laplacian(1.0)) / 3.0;
  EXPECT_NEAR(laplacian_of_gaussian[0], laplacian(-1.0) - mean, 1e-5);
  EXPECT_NEAR(laplacian_of_gaussian[1], laplacian(0.0) - mean, 1e-5);
}

TEST(ServiceRate, OfConstantServiceIsExact) {
  ServiceRate rate(0.5);
  std::optional<double> stable;
  for (int i = 0; i < 200 && !stable; ++i) stable = rate.add({.seconds = 0.5, .units = 40.0});
  ASSERT_TRUE(stable);
  EXPECT_NEAR(*stable, 80.0, 1e-9);
}

TEST(ServiceRate, LeavesOutSamplesOfAnotherLengthAndBlockedOnes) {
  ServiceRate rate(1.0);
  for (int i = 0; i < 60; ++i) {
    rate.add({.seconds = 1.0, .units = 40.0});
    rate.add({.seconds = 1.02, .units = 400.0});
    rate.add({.seconds = 1.0, .units = 1.0, .is_blocked = true});
  }
  EXPECT_NEAR(*rate.current(), 40.0, 1e-9);
}

TEST(ServiceRate, BeginsAnewWhenItIsStableAndSoFindsTheSecondPhase) {
  ServiceRate rate(1.0);
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::poisson_distribution<int> counts(i < 1000 ? 400.0 : 200.0);
    rate.add({.seconds = 1.0, .units = static_cast<double>(counts(random))});
    if (i == 999) {
      ASSERT_TRUE(rate.stable());
      EXPECT_NEAR(*rate.stable(), 400.0, 40.0);
    }
  }
  EXPECT_NEAR(*rate.stable(), 200.0, 30.0);
}

TEST(PhaseRate, IsTheMeanOfThePhase) {
  PhaseRate rate;
  std::mt19937_64 random(1);
  const auto run = [&](int samples, double mean) {
    int changes = 0;
    std::poisson_distribution<int> counts(mean);
    for (int i = 0; i < samples; ++i) changes += rate.add({1.0, static_cast<double>(counts(random))}) ? 1 : 0;
    return changes;
  };
  EXPECT_EQ(run(1000, 400.0), 0);
  EXPECT_NEAR(*rate.rate(), 400.0, 3.0);
  EXPECT_LT(rate.interval()->low, 400.0);
  EXPECT_GT(rate.interval()->high, 400.0);
  EXPECT_EQ(run(1000, 340.0), 1);
  EXPECT_NEAR(*rate.rate(), 340.0, 3.0);
  EXPECT_NEAR(rate.seconds(), 1000.0, 5.0);
}

TEST(PhaseRate, DoesNotTakeOneSampleForAPhase) {
  PhaseRate rate;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(rate.add({1.0, 100.0}));
  EXPECT_FALSE(rate.add({1.0, 0.0}));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(rate.add({1.0, 100.0}));
  EXPECT_NEAR(*rate.rate(), 100.0 * 40.0 / 41.0, 1e-9);
}

}  // namespace
}  // namespace halcyon
