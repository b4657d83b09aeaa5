#include "report/overview.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "tests/truth/truth.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

struct Summarized {
  Profile profile;
  Grouping grouping;
  Analysis analysis;
  Overview overview;
};

Summarized summarized(Profile profile, const OverviewSize& size = {}) {
  Grouping grouping = group_segments(profile);
  Analysis analysis = analyze(profile, grouping, methods.front().name);
  Overview overview = overview_of(profile, grouping, analysis, size);
  return {std::move(profile), std::move(grouping), std::move(analysis), std::move(overview)};
}

Summarized disturbed_run(const OverviewSize& size = {}) {
  truth::Run run;
  run.ranks = 4;
  run.segments = 20000;
  run.phases = {truth::Phase{.share = 3}, truth::Phase{.share = 1, .seconds = 5e-3}};
  run.jitter_law = truth::JitterLaw::normal;
  run.jitter = 0.02;
  run.hits = 0.1;
  run.slowdown = 0.2;
  return summarized(truth::make_truth(run).profile, size);
}

template <class Values>
double sum(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Overview, HasEverySegmentInOneSlotOfTime) {
  const Summarized run = disturbed_run({.slots = 300});
  EXPECT_LE(run.overview.slots.size(), 300U);
  std::uint64_t segments = 0;
  double before = -1.0;
  for (const TimeSlot& slot : run.overview.slots) {
    segments += slot.segments;
    EXPECT_GT(slot.begin_seconds, before);
    EXPECT_LE(slot.disturbed, slot.segments);
    before = slot.begin_seconds;
  }
  EXPECT_EQ(segments, run.profile.segments);
}

TEST(Overview, HasASlotForEachSegmentWhereThereAreFew) {
  const Summarized run = summarized(uniform_profile(50, 1.0));
  ASSERT_EQ(run.overview.slots.size(), 50U);
  EXPECT_EQ(run.overview.slots[7].begin_seconds, 7.0);
  EXPECT_EQ(run.overview.slots[7].shortest, 1.0F);
  EXPECT_EQ(run.overview.slots[7].longest, 1.0F);
  EXPECT_EQ(run.overview.slots[7].disturbed, 0U);
}

TEST(Overview, TellsDisturbedSegmentsFromOthersByTheThresholdOfTheirGroup) {
  Profile profile = uniform_profile(100, 1.0);
  profile.duration[40] = 3.0F;
  profile.run_time_seconds = 102.0;
  const Summarized run = summarized(std::move(profile));
  EXPECT_EQ(run.overview.slots[40].disturbed, 1U);
  EXPECT_EQ(run.overview.slots[40].longest_disturbed, 3.0F);
  EXPECT_EQ(run.overview.slots[40].longest, 0.0F);
  EXPECT_EQ(run.overview.slots[41].begin_seconds, 43.0);
}

TEST(Overview, HasAllOfTheExcessOnTheMapOfRanksAndTime) {
  const Summarized run = disturbed_run();
  EXPECT_EQ(run.overview.lateness.rows, 4U);
  EXPECT_NEAR(sum(run.overview.lateness.seconds), run.analysis.breakdown.seconds, 1e-9);
}

TEST(Overview, LetsNeighbouringRanksShareARowWhereThereAreMany) {
  Profile profile = uniform_profile(100, 1.0);
  profile.ranks = 1000;
  profile.rank_host.assign(1000, "host");
  profile.rank_run_time.assign(1000, 100.0);
  profile.last_rank[99] = 999;
  const Summarized run = summarized(std::move(profile));
  EXPECT_EQ(run.overview.lateness.ranks_in_row, 16U);
  EXPECT_EQ(run.overview.lateness.rows, 63U);
}

TEST(Overview, GivesTheWorstOfManyRanksRowsOfTheirOwn) {
  Profile profile = uniform_profile(100, 1.0);
  profile.ranks = 1000;
  profile.rank_host.assign(1000, "host");
  profile.rank_run_time.assign(1000, 104.0);
  for (const auto& [segment, rank, seconds] : {std::tuple{20, 7U, 2.0F}, {60, 700U, 4.0F}}) {
    profile.last_rank[static_cast<std::size_t>(segment)] = rank;
    profile.duration[static_cast<std::size_t>(segment)] = seconds;
  }
  profile.run_time_seconds = 104.0;
  const LatenessMap map = summarized(std::move(profile)).overview.lateness;
  ASSERT_GE(map.worst_ranks.size(), 2U);
  EXPECT_EQ(map.worst_ranks[0], 700U);
  EXPECT_EQ(map.worst_ranks[1], 7U);
  EXPECT_EQ(map.worst_seconds.size(), map.worst_ranks.size() * map.columns);
  EXPECT_LE(*std::max_element(map.worst_seconds.begin(), map.worst_seconds.end()),
            *std::max_element(map.seconds.begin(), map.seconds.end()));
}

TEST(Overview, CountsEverySegmentInTheHistogramsOfAllAndOfItsGroup) {
  const Summarized run = disturbed_run();
  const auto count = [](const Histogram& histogram) { return sum(histogram.undisturbed) + sum(histogram.disturbed); };
  EXPECT_EQ(count(run.overview.durations), static_cast<double>(run.profile.segments));
  ASSERT_FALSE(run.overview.groups.empty());
  for (const GroupOverview& group : run.overview.groups) {
    EXPECT_EQ(count(group.histogram), static_cast<double>(group.segments));
    EXPECT_EQ(sum(group.histogram.disturbed), static_cast<double>(group.disturbed));
  }
}

TEST(Overview, ShowsTheGroupsThatLostMostFirst) {
  const Summarized run = disturbed_run({.groups = 2});
  ASSERT_EQ(run.overview.groups.size(), 2U);
  EXPECT_GE(run.overview.groups[0].excess_seconds, run.overview.groups[1].excess_seconds);
}

TEST(Overview, GivesDurationsThatAreAllAlikeABinOfSomeWidth) {
  const Summarized run = summarized(uniform_profile(50, 1.0));
  const Histogram& all = run.overview.durations;
  EXPECT_FALSE(all.logarithmic);
  EXPECT_GT(all.edge(1), all.edge(0));
  EXPECT_EQ(all.undisturbed.front(), 50U);
}

TEST(Overview, OfARunWithoutSegmentsIsEmpty) {
  const Summarized run = summarized(uniform_profile(0, 1.0));
  EXPECT_TRUE(run.overview.slots.empty());
  EXPECT_TRUE(run.overview.durations.undisturbed.empty());
  EXPECT_TRUE(run.overview.groups.empty());
}

}  // namespace
