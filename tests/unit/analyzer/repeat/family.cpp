// What is said of several programs that take turns holds for all of them together.
#include "analyzer/repeat/family.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/truth/series.hpp"

namespace {

using namespace halcyon;

TEST(Turns, OfTwoProgramsAreAbba) {
  EXPECT_EQ(turns_of_round(2, 0), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(turns_of_round(2, 1), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(turns_of_round(2, 2), (std::vector<std::size_t>{0, 1}));
}

TEST(Turns, GiveEachProgramEachPlaceAndEachPredecessorEquallyOften) {
  for (const std::size_t programs : {2U, 3U, 4U, 5U, 6U, 25U, 26U}) {
    std::map<std::pair<std::size_t, std::size_t>, int> places;
    std::map<std::pair<std::size_t, std::size_t>, int> followers;
    for (std::size_t round = 0; round < 2 * programs; ++round) {
      const std::vector<std::size_t> turns = turns_of_round(programs, round);
      for (std::size_t i = 0; i < programs; ++i) ++places[{turns[i], i}];
      for (std::size_t i = 1; i < programs; ++i) ++followers[{turns[i - 1], turns[i]}];
    }
    EXPECT_EQ(places.size(), programs * programs);
    EXPECT_EQ(followers.size(), programs * (programs - 1));
    for (const auto& [place, times] : places) EXPECT_EQ(times, 2) << programs;
    for (const auto& [pair, times] : followers) EXPECT_EQ(times, 2) << programs;
  }
}

TEST(Turns, LetASteadyDriftCancelInTwoRounds) {
  for (const std::size_t programs : {2U, 3U, 4U, 5U}) {
    for (std::size_t round = 0; round < 2 * programs; round += 2) {
      std::vector<std::size_t> sums(programs, 0);
      for (const std::size_t each : {round, round + 1}) {
        const std::vector<std::size_t> turns = turns_of_round(programs, each);
        for (std::size_t i = 0; i < programs; ++i) sums[turns[i]] += each * programs + i;
      }
      for (const std::size_t sum : sums) EXPECT_EQ(sum, sums.front()) << programs;
    }
  }
}

TEST(EachComparison, IsSurerThanAllTogether) {
  EXPECT_DOUBLE_EQ(of_each_comparison({.confidence = 0.95}, 1).confidence, 0.95);
  EXPECT_DOUBLE_EQ(of_each_comparison({.confidence = 0.95}, 5).confidence, 0.99);
}

// Compared with A in so many pairs, each program with its own ratio and reach of intervals.
std::vector<Versus> compared(const std::vector<std::pair<double, double>>& others, std::size_t rounds) {
  truth::SeriesSource source({.disturbed = 0.0}, 7);
  std::vector<std::vector<RunPair>> pairs(others.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    const RepeatedRun a = source.next();
    for (std::size_t i = 0; i < others.size(); ++i) {
      pairs[i].push_back({a, source.next_of_other(others[i].first, others[i].second)});
    }
  }
  std::vector<Versus> all;
  for (const std::vector<RunPair>& each : pairs) {
    all.push_back(compare_pairs(each, of_each_comparison({.within_percent = 2.0}, others.size())));
  }
  return all;
}

TEST(KnownTogether, WaitsForTheComparisonThatIsKnownLeast) {
  const std::vector<Versus> all = compared({{1.0, 1.0}, {1.1, 1.0}}, 12);
  const KnownSoFar first = known_so_far(all[0]);
  const KnownSoFar second = known_so_far(all[1]);
  const double narrower = std::min(*first.half_width_percent, *second.half_width_percent);
  const double wider = std::max(*first.half_width_percent, *second.half_width_percent);
  ASSERT_LT(narrower, wider);
  EXPECT_EQ(known_together(all, 0.5 * narrower).half_width_percent, wider);
  EXPECT_EQ(known_together(all, 0.5 * (narrower + wider)).half_width_percent, wider);
  EXPECT_EQ(known_together(all, 2.0 * wider).half_width_percent, wider);
  EXPECT_EQ(known_together(all, wider).runs, 12U);
}

TEST(KnownTogether, IsNotHeldUpByAFloorUntilTheOthersAreKnown) {
  // The second one's intervals reach so much further that its floor is above any useful width.
  const std::vector<Versus> all = compared({{1.0, 1.0}, {1.0, 20.0}}, 40);
  const double floor = known_so_far(all[1]).floor_percent;
  const double width = *known_so_far(all[0]).half_width_percent;
  ASSERT_GT(floor, 4.0 * width);
  EXPECT_LT(known_together(all, 0.5 * width).floor_percent, floor);
  EXPECT_EQ(known_together(all, 2.0 * width).floor_percent, floor);
}

TEST(KnownTogether, IsNothingBeforeEachHasTwoPairs) {
  EXPECT_EQ(known_together(compared({{1.0, 1.0}, {1.1, 1.0}}, 1), 1.0).half_width_percent, std::nullopt);
}

std::vector<std::pair<std::size_t, std::size_t>> spans(const std::vector<Place>& places) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (const Place& place : places) all.emplace_back(place.first, place.last);
  return all;
}

TEST(Places, AreSharedByProgramsThatAreNotToldApart) {
  const std::vector<RankedTime> times{
      RankedTime::of_first(), {0.9, Interval{0.89, 0.91}}, {1.1, Interval{1.08, 1.12}}, {1.09, Interval{1.07, 1.11}}};
  const std::vector<Place> ranking = places(times);
  EXPECT_EQ(ranking[0].program, 1U);
  EXPECT_EQ(ranking[1].program, 0U);
  EXPECT_EQ(ranking[2].program, 3U);
  EXPECT_EQ(ranking[3].program, 2U);
  EXPECT_EQ(spans(ranking), (std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {2, 2}, {3, 4}, {3, 4}}));
}

TEST(Places, AreAnyForAProgramOfWhichNothingIsKnown) {
  const std::vector<RankedTime> times{RankedTime::of_first(), {0.9, Interval{0.89, 0.91}}, {1.0, std::nullopt}};
  EXPECT_EQ(spans(places(times)), (std::vector<std::pair<std::size_t, std::size_t>>{{1, 2}, {2, 3}, {1, 3}}));
}

TEST(RankedTime, MayBeThatOfTheFirstProgramUnlessItIsToldFromIt) {
  Versus versus = compared({{1.05, 1.0}}, 12).front();
  ASSERT_EQ(versus.verdict, VersusVerdict::slower);
  EXPECT_GT(RankedTime::of(versus).interval->low, 1.0);
  versus.verdict = VersusVerdict::unclear;
  EXPECT_EQ(RankedTime::of(versus).interval->low, 1.0);
  versus.verdict = VersusVerdict::contradiction;
  EXPECT_FALSE(RankedTime::of(versus).interval);
}

}  // namespace
