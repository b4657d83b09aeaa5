#include "analyzer/statistics/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace halcyon;

using Positions = std::vector<std::size_t>;
constexpr unsigned seeds = 60;

// Where each level but the first begins.
Positions changes_of(const std::vector<double>& values) {
  Positions changes;
  for (const OneLevel& one : stretches_of_one_level(values)) changes.push_back(one.stretch.begin);
  if (!changes.empty()) changes.erase(changes.begin());
  return changes;
}

std::vector<double> steps(const std::vector<std::pair<std::size_t, double>>& parts) {
  std::vector<double> values;
  for (const auto& [count, value] : parts) values.insert(values.end(), count, value);
  return values;
}

// The published steps of Pilot's tests: E-Divisive with Medians finds 30 and 131 of the first, or 59 and 131.
TEST(Levels, ChangeWhereThePublishedStepsDo) {
  EXPECT_EQ(changes_of(steps({{30, 1.1}, {130, 5.1}, {30, 1.1}})), (Positions{30, 160}));
  EXPECT_EQ(changes_of(steps({{30, 1.1}, {30, 5.1}, {30, 1.1}})), (Positions{30, 60}));
  const std::vector<OneLevel> levels = stretches_of_one_level(steps({{20, 1.0}, {20, 2.0}}));
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(std::pair(levels[0].level, levels[1].level), std::pair(1.0, 2.0));
}

// 400 values of which the first 80 are higher, as companion systems were tried on; a share of all is delayed.
std::vector<double> with_warm_up(double warm_up, double delayed, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<> usual(100.0, 2.0);
  std::bernoulli_distribution strikes(delayed);
  std::exponential_distribution<> delay(1.0 / 50.0);
  std::vector<double> values;
  for (std::size_t i = 0; i < 400; ++i) {
    values.push_back(usual(random) + (i < 80 ? warm_up : 0.0) + (strikes(random) ? delay(random) : 0.0));
  }
  return values;
}

// How far the nearest change point is from a place; 400 without any.
double distance_of(const Positions& changes, double place) {
  double nearest = 400.0;
  for (const std::size_t change : changes) nearest = std::min(nearest, std::abs(static_cast<double>(change) - place));
  return nearest;
}

double mean_error_of_location(double delayed) {
  double sum = 0.0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    sum += distance_of(changes_of(with_warm_up(15.0, delayed, seed)), 80.0);
  }
  return sum / seeds;
}

TEST(Levels, ChangeAtTheEndOfAWarmUpToOneValue) {
  EXPECT_LE(mean_error_of_location(0.05), 0.5);
  EXPECT_LE(mean_error_of_location(0.15), 1.0);
}

TEST(Levels, HardlyEverChangeInSteadyValues) {
  constexpr unsigned series = 1000;
  unsigned false_changes = 0;
  for (unsigned seed = 0; seed < series; ++seed) {
    false_changes += changes_of(with_warm_up(0.0, 0.05, seed)).empty() ? 0 : 1;
  }
  EXPECT_LE(false_changes, 2U);
}

TEST(Levels, ChangeTwiceAroundAStretchThatComesAndGoes) {
  double sum = 0.0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::vector<double> values = with_warm_up(0.0, 0.05, seed);
    for (std::size_t i = 200; i < 220; ++i) values[i] += 30.0;
    const Positions changes = changes_of(values);
    sum += distance_of(changes, 200.0) + distance_of(changes, 220.0);
  }
  EXPECT_LE(sum / (2 * seeds), 1.0);
}

TEST(Levels, DoNotChangeBySingleLongDelays) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<double> values = with_warm_up(0.0, 0.0, 1000 + seed);
    for (const std::size_t at : {17, 18, 200, 390}) values[at] += 1e6;
    EXPECT_EQ(changes_of(values), Positions{}) << seed;
  }
}

TEST(Levels, AreOneWhereAllValuesAreEqual) {
  EXPECT_EQ(changes_of(std::vector<double>(100, 1.0)), Positions{});
  EXPECT_EQ(changes_of({}), Positions{});
}

// Neighbours are alike, but nothing lasts: each value keeps 0.7 of what the one before was off.
TEST(Levels, SeldomChangeWhereValuesWander) {
  constexpr unsigned series = 200;
  unsigned false_changes = 0;
  for (unsigned seed = 0; seed < series; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<> step;
    std::vector<double> values(400);
    double wander = 0.0;
    for (double& value : values) value = wander = 0.7 * wander + step(random);
    false_changes += changes_of(values).empty() ? 0 : 1;
  }
  EXPECT_LE(false_changes, 2U);
}

}  // namespace
