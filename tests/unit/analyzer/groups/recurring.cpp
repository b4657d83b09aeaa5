#include "analyzer/groups/recurring.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace {

using namespace halcyon;

constexpr Eigen::Index size_of_run = 1000;

// Durations of 1 ms with little jitter, each times what `factor` says of its place in the run.
Durations repeated(const std::function<double(Eigen::Index)>& factor, double jitter = 0.01) {
  std::mt19937_64 random(7);
  std::normal_distribution<> normal(1.0, jitter);
  Durations durations(size_of_run);
  for (Eigen::Index i = 0; i < size_of_run; ++i) durations[i] = 1e-3 * factor(i) * normal(random);
  return durations;
}

Durations with_delays(Durations durations) {
  std::mt19937_64 random(8);
  for (double& one : durations) {
    if (std::bernoulli_distribution(0.2)(random)) one += std::exponential_distribution<>(2e3)(random);
  }
  return durations;
}

bool recur(const Durations& durations) { return recurring_factors(durations).has_value(); }

double every_tenth(Eigen::Index i) { return i % 10 == 3 ? 1.3 : 1.0; }

TEST(RecurringWork, HasTheFactorOfItsPlaceInTheSequence) {
  const std::optional<Durations> factors = recurring_factors(with_delays(repeated(every_tenth)));
  ASSERT_TRUE(factors.has_value());
  EXPECT_NEAR(factors->mean(), 1.0, 1e-12);
  for (Eigen::Index i = 0; i < size_of_run; ++i) EXPECT_NEAR((*factors)[i], every_tenth(i) / 1.03, 0.01);
}

TEST(RecurringWork, MayDifferAtEachPlace) {
  const auto turns = [](Eigen::Index i) { return 1.0 + 0.02 * static_cast<double>(i * i % 7); };
  const std::optional<Durations> factors = recurring_factors(repeated(turns));
  ASSERT_TRUE(factors.has_value());
  EXPECT_NEAR((*factors)[3] / (*factors)[0], turns(3) / turns(0), 0.01);
}

TEST(RecurringWork, IsFoundAlsoWhereItAlternates) {
  EXPECT_TRUE(recur(repeated([](Eigen::Index i) { return i % 2 == 0 ? 1.0 : 1.1; })));
}

TEST(RecurringWork, IsNoJitterOrDelay) {
  const auto alike = [](Eigen::Index) { return 1.0; };
  EXPECT_FALSE(recur(repeated(alike)));
  EXPECT_FALSE(recur(with_delays(repeated(alike))));
}

TEST(RecurringWork, IsNotWhatHasAPeriodInTime) {
  // A daemon, each 9.37 segments.
  EXPECT_FALSE(recur(repeated([](Eigen::Index i) { return std::fmod(static_cast<double>(i), 9.37) < 1.0 ? 1.3 : 1.0; })));
}

TEST(RecurringWork, IsNotMoreWhereNeighboursComeAndGo) {
  // Each 50 segments, for 15: nothing says that this does not have a period in time.
  Durations durations = repeated([](Eigen::Index) { return 1.0; });
  const Durations delayed = with_delays(durations);
  for (Eigen::Index i = 0; i < size_of_run; ++i) durations[i] = i % 50 < 15 ? delayed[i] : durations[i];
  EXPECT_FALSE(recur(durations));
  EXPECT_FALSE(recur(repeated([](Eigen::Index i) { return 1.0 + 0.1 * std::sin(static_cast<double>(i) / 8.0); })));
}

TEST(RecurringWork, IsNoTrendAndNoSlowWalk) {
  EXPECT_FALSE(recur(repeated([](Eigen::Index i) { return 1.0 + 1e-3 * static_cast<double>(i); })));
  std::mt19937_64 random(9);
  std::normal_distribution<> normal(0.0, 0.01);
  double walk = 0.0;
  EXPECT_FALSE(recur(repeated([&](Eigen::Index) { return std::exp(walk = 0.97 * walk + normal(random)); })));
}

TEST(RecurringWork, NeedsSeveralRounds) { EXPECT_FALSE(recur(repeated(every_tenth).head(19))); }

}  // namespace
