#include "analyzer/site/culprits.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace halcyon;
using Series = std::vector<double>;

constexpr std::size_t slices = 600;

Series noise(std::uint64_t seed, double mean) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<> law(1.0 / mean);
  Series values(slices);
  for (double& value : values) value = law(random);
  return values;
}

// Now and then for some slices.
Series bursts(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<> on(1.0 / 8.0);
  std::exponential_distribution<> off(1.0 / 30.0);
  Series values(slices, 0.0);
  for (double at = off(random); at < static_cast<double>(slices); at += off(random)) {
    const double end = at + on(random);
    for (; at < std::min(end, static_cast<double>(slices)); ++at) values[static_cast<std::size_t>(at)] = 1e9;
  }
  return values;
}

Series with(Series loss, const Series& demand, double seconds, std::size_t delay = 0) {
  double sum = 0.0;
  for (const double amount : demand) sum += amount;
  for (std::size_t i = delay; i < loss.size(); ++i) loss[i] += seconds * demand[i - delay] / sum;
  return loss;
}

std::vector<Suspect> innocents(std::size_t count, std::size_t resource = 0) {
  std::vector<Suspect> suspects;
  for (std::size_t i = 0; i < count; ++i)
    suspects.push_back({static_cast<std::uint32_t>(i), resource, bursts(100 + i)});
  return suspects;
}

Accusations told_of(const Series& loss, const std::vector<Suspect>& suspects) {
  return culprits_of({&loss, 1}, suspects);
}

TEST(Culprits, AreThoseWhoseDemandExplainsTheLoss) {
  std::vector<Suspect> suspects = innocents(8);
  const std::vector<Series> losses{with(noise(1, 0.02), suspects[3].demand, 20.0, 1)};
  const Accusations told = culprits_of(losses, suspects);
  ASSERT_EQ(told.culprits.size(), 1U);
  const Culprit& culprit = told.culprits.front();
  EXPECT_EQ(culprit.suspect, 3U);
  EXPECT_TRUE(culprit.or_else.empty());
  EXPECT_NEAR(culprit.lost_seconds, 20.0, 3.0);
  EXPECT_LT(culprit.interval_seconds.low, 20.0);
  EXPECT_GT(culprit.interval_seconds.high, 20.0);
  EXPECT_LE(culprit.chance, 0.05);
}

// By whatever: a disk that failed, a node that was started again.
TEST(Culprits, AreSeenBesideAFewGreatLosses) {
  std::vector<Suspect> suspects = innocents(8);
  Series loss = with(noise(1, 0.02), suspects[3].demand, 20.0);
  std::mt19937_64 random(7);
  for (int i = 0; i < 8; ++i) loss[random() % slices] += 10.0;
  const Accusations told = told_of(loss, suspects);
  ASSERT_EQ(told.culprits.size(), 1U);
  EXPECT_EQ(told.culprits.front().suspect, 3U);
  EXPECT_GT(told.culprits.front().interval_seconds.high, 20.0);
}

TEST(Culprits, MayBeTwo) {
  std::vector<Suspect> suspects = innocents(8);
  const std::vector<Series> losses{with(with(noise(1, 0.02), suspects[3].demand, 20.0), suspects[5].demand, 10.0)};
  const Accusations told = culprits_of(losses, suspects);
  ASSERT_EQ(told.culprits.size(), 2U);
  const bool is_third_first = told.culprits.front().suspect == 3U;
  const Culprit& third = told.culprits[is_third_first ? 0 : 1];
  const Culprit& fifth = told.culprits[is_third_first ? 1 : 0];
  EXPECT_EQ(third.suspect, 3U);
  EXPECT_EQ(fifth.suspect, 5U);
  EXPECT_NEAR(third.lost_seconds, 20.0, 3.0);
  EXPECT_NEAR(fifth.lost_seconds, 10.0, 2.0);
}

TEST(Culprits, AreSoughtByTheResourceThatLost) {
  std::vector<Suspect> suspects = innocents(4, 0);
  const std::vector<Series> losses{noise(2, 0.02), with(noise(1, 0.02), suspects[1].demand, 20.0)};
  EXPECT_TRUE(culprits_of(losses, suspects).culprits.empty());
  suspects[1].resource = 1;
  EXPECT_EQ(culprits_of(losses, suspects).culprits.size(), 1U);
}

TEST(Culprits, AreNotThoseOfTheSameFixedRhythm) {
  std::vector<Suspect> suspects = innocents(4);
  Series& rhythm = suspects[2].demand;
  for (std::size_t i = 0; i < slices; ++i) rhythm[i] = i % 20 < 4 ? 1.0 : 0.0;
  EXPECT_TRUE(told_of(with(noise(1, 0.02), rhythm, 20.0), suspects).culprits.empty());
}

TEST(Culprits, AreNotThoseWhoDoLessWhileMoreIsLost) {
  std::vector<Suspect> suspects = innocents(4);
  const Series hidden = bursts(7);
  for (Suspect& suspect : suspects)
    for (std::size_t i = 0; i < slices; ++i) suspect.demand[i] = hidden[i] > 0.0 ? 0.3e9 : 1e9;
  EXPECT_TRUE(told_of(with(noise(1, 0.02), hidden, 20.0), suspects).culprits.empty());
}

TEST(Culprits, AreNotThoseWhoCameWhileTheMachineGotSlower) {
  std::vector<Suspect> suspects = innocents(4);
  Series loss = noise(1, 0.02);
  for (std::size_t i = 0; i < slices; ++i) {
    loss[i] += 1e-4 * static_cast<double>(i);
    for (Suspect& suspect : suspects) suspect.demand[i] = i < slices / 2 ? 0.0 : 1e9;
  }
  EXPECT_TRUE(told_of(loss, suspects).culprits.empty());
}

TEST(Culprits, ThatAlwaysCameTogetherAreNamedTogether) {
  std::vector<Suspect> suspects = innocents(5);
  suspects[4].demand = suspects[1].demand;
  const Accusations told = told_of(with(noise(1, 0.02), suspects[1].demand, 20.0), suspects);
  ASSERT_EQ(told.culprits.size(), 1U);
  ASSERT_EQ(told.culprits.front().or_else.size(), 1U);
  EXPECT_EQ(told.culprits.front().suspect + told.culprits.front().or_else.front(), 5U);
}

TEST(Culprits, AreNotSoughtInTooFewSlices) {
  std::vector<Suspect> suspects = innocents(3);
  Series loss = with(noise(1, 0.02), suspects[1].demand, 20.0);
  loss.resize(fewest_slices_for_culprits - 1);
  for (Suspect& suspect : suspects) suspect.demand.resize(loss.size());
  const Accusations told = told_of(loss, suspects);
  EXPECT_FALSE(told.are_slices_enough);
  EXPECT_TRUE(told.culprits.empty());
}

TEST(Culprits, AreNoneWithoutLossOrSuspects) {
  EXPECT_TRUE(culprits_of({}, {}).culprits.empty());
  EXPECT_TRUE(told_of(Series(slices, 0.0), innocents(3)).culprits.empty());
  EXPECT_TRUE(told_of(noise(1, 0.02), {}).culprits.empty());
  EXPECT_TRUE(told_of(noise(1, 0.02), {{{0, 0, Series(slices, 0.0)}}}).culprits.empty());
}

}  // namespace
