#include "analyzer/attribution/breakdown.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "analyzer/groups/timeline.hpp"
#include "analyzer/judge/analysis.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

// Segments of 10 ms on two ranks of two hosts, of which the last rank spends 1 ms in each kind of call.
Profile plain_profile(std::size_t segments = 100) {
  Profile profile = uniform_profile(segments, 0.010);
  profile.rank_host = {"left", "right"};
  for (auto& times : profile.last_rank_times) times.assign(segments, 0.001F);
  return profile;
}

void delay(Profile& profile, std::size_t segment, float seconds, std::uint32_t rank, std::optional<TimeKind> kind) {
  profile.duration[segment] += seconds;
  profile.last_rank[segment] = rank;
  if (kind) profile.last_rank_times[static_cast<std::size_t>(*kind)][segment] += seconds;
}

// Whatever is beyond 10 ms, and what is less of it.
std::vector<float> excess_of(const Profile& profile, double baseline = 0.010) {
  std::vector<float> excess;
  for (const float duration : profile.duration) {
    excess.push_back(static_cast<float>(static_cast<double>(duration) - baseline));
  }
  return excess;
}

Breakdown attribute(const Profile& profile, const std::vector<float>& excess) {
  return halcyon::attribute(profile, group_segments(profile), excess);
}

double of(const Breakdown& breakdown, ExcessKind kind) { return breakdown.kinds[static_cast<std::size_t>(kind)]; }

template <class Shares>
double sum_of(const Shares& shares) {
  double sum = 0.0;
  for (const auto& share : shares) sum += share.seconds;
  return sum;
}

void expect_to_add_up(const Breakdown& breakdown, double seconds) {
  const double tolerance = 1e-12 + 1e-12 * std::abs(seconds);
  EXPECT_NEAR(breakdown.seconds, seconds, tolerance);
  EXPECT_NEAR(std::accumulate(breakdown.kinds.begin(), breakdown.kinds.end(), 0.0), seconds, tolerance);
  EXPECT_NEAR(sum_of(breakdown.ranks), seconds, tolerance);
  EXPECT_NEAR(sum_of(breakdown.hosts), seconds, tolerance);
  EXPECT_NEAR(std::accumulate(breakdown.windows.begin(), breakdown.windows.end(), 0.0), seconds, tolerance);
  EXPECT_NEAR(sum_of(breakdown.groups) + breakdown.other_groups_seconds, seconds, tolerance);
  for (const RankShare& rank : breakdown.ranks) {
    EXPECT_NEAR(std::accumulate(rank.kinds.begin(), rank.kinds.end(), 0.0), rank.seconds, tolerance);
  }
}

TEST(Breakdown, GoesToTheKindTheRankAndTheHostThatWereDelayed) {
  const std::vector<std::pair<std::optional<TimeKind>, ExcessKind>> kinds{
      {std::nullopt, ExcessKind::computation},        {TimeKind::point_to_point, ExcessKind::point_to_point},
      {TimeKind::collective, ExcessKind::collective}, {TimeKind::boundary, ExcessKind::collective},
      {TimeKind::file_io, ExcessKind::file_io},       {TimeKind::device, ExcessKind::device}};
  for (const auto& [time, kind] : kinds) {
    for (const std::uint32_t rank : {0u, 1u}) {
      Profile profile = plain_profile();
      for (std::size_t i = 5; i < 100; i += 10) delay(profile, i, 0.020F, rank, time);
      const Breakdown breakdown = attribute(profile, excess_of(profile));
      EXPECT_NEAR(of(breakdown, kind), 0.200, 1e-6);
      ASSERT_FALSE(breakdown.ranks.empty());
      EXPECT_EQ(breakdown.ranks.front().rank, rank);
      EXPECT_NEAR(breakdown.ranks.front().kinds[static_cast<std::size_t>(kind)], 0.200, 1e-6);
      EXPECT_EQ(breakdown.hosts.front().host, rank == 0 ? "left" : "right");
      expect_to_add_up(breakdown, breakdown.seconds);
    }
  }
}

TEST(Breakdown, AddsUpForAnyExcessEvenANegativeOne) {
  Profile profile = plain_profile(2000);
  std::mt19937 engine(3);
  std::normal_distribution<float> jitter(0.0F, 0.001F);
  column(profile, Feature::writes) = {{}, {}};
  for (std::size_t i = 0; i < 2000; ++i) {
    delay(profile, i, jitter(engine), static_cast<std::uint32_t>(i % 2), static_cast<TimeKind>(i % 4));
    if (column(profile, Feature::writes).bins.size() <= i / 50) {
      column(profile, Feature::writes).bins.push_back(static_cast<double>(i / 50));
    }
    column(profile, Feature::writes).index.push_back(static_cast<std::uint16_t>(i / 50));  // 40 groups
  }
  const std::vector<float> excess = excess_of(profile);
  const Breakdown breakdown = attribute(profile, excess);
  EXPECT_EQ(breakdown.groups.size(), most_groups_told);
  EXPECT_EQ(breakdown.other_groups, 30u);
  expect_to_add_up(breakdown, std::accumulate(excess.begin(), excess.end(), 0.0));
}

TEST(Breakdown, LetsJitterOfOneKindCancelWithinThatKind) {
  Profile profile = plain_profile();
  for (std::size_t i = 0; i < 100; ++i) delay(profile, i, i % 2 == 0 ? 0.0005F : -0.0005F, 0, TimeKind::collective);
  const Breakdown breakdown = attribute(profile, excess_of(profile));
  for (const double seconds : breakdown.kinds) EXPECT_NEAR(seconds, 0.0, 1e-6);
}

TEST(Breakdown, DividesASegmentBetweenItsDelays) {
  Profile profile = plain_profile();
  delay(profile, 50, 0.030F, 1, TimeKind::point_to_point);
  delay(profile, 50, 0.010F, 1, TimeKind::file_io);
  const Breakdown breakdown = attribute(profile, excess_of(profile));
  EXPECT_NEAR(of(breakdown, ExcessKind::point_to_point), 0.030, 1e-6);
  EXPECT_NEAR(of(breakdown, ExcessKind::file_io), 0.010, 1e-6);
}

// The estimator knows from elsewhere that even the fastest segments are disturbed.
TEST(Breakdown, OfAGroupWithoutAnUndisturbedSegmentFollowsWhatDiffers) {
  Profile profile = plain_profile();
  std::mt19937 engine(5);
  std::poisson_distribution<int> delays(6.0);
  for (std::size_t i = 0; i < 100; ++i) {
    delay(profile, i, 0.005F * static_cast<float>(1 + delays(engine)), 1, TimeKind::point_to_point);
  }
  const std::vector<float> excess = excess_of(profile);
  const Breakdown breakdown = attribute(profile, excess);
  expect_to_add_up(breakdown, std::accumulate(excess.begin(), excess.end(), 0.0));
  EXPECT_GT(of(breakdown, ExcessKind::point_to_point), 0.99 * breakdown.seconds);
}

TEST(Breakdown, WithoutAnythingThatDiffersIsAsTheTimeThatWasSpent) {
  const Profile profile = plain_profile();
  const Breakdown breakdown = attribute(profile, std::vector<float>(100, 0.001F));
  const SecondsByKind spent = time_spent(profile);
  const double share = 0.100 / std::accumulate(spent.begin(), spent.end(), 0.0);
  for (std::size_t kind = 0; kind < excess_kind_count; ++kind) {
    EXPECT_NEAR(breakdown.kinds[kind], share * spent[kind], 1e-7) << kind;
  }
}

// The rank that held the others up began its step before the others ended the one before.
TEST(Breakdown, HasNoMoreInCallsThanASegmentTook) {
  Profile profile = plain_profile();
  for (float& one : profile.last_rank_times[static_cast<std::size_t>(TimeKind::point_to_point)]) one = 1.0F;
  const Breakdown breakdown = attribute(profile, std::vector<float>(100, 0.001F));
  EXPECT_NEAR(of(breakdown, ExcessKind::point_to_point), 0.100, 0.005);
  EXPECT_GE(of(breakdown, ExcessKind::computation), 0.0);
  const SecondsByKind spent = time_spent(profile);
  EXPECT_NEAR(std::accumulate(spent.begin(), spent.end(), 0.0), length_of(profile.duration), 1e-5);
}

TEST(Breakdown, FallsIntoTheWindowsOfTimeInWhichItHappened) {
  Profile profile = plain_profile(200);  // 2 s and what is added
  for (std::size_t i = 100; i < 110; ++i) delay(profile, i, 0.010F, 0, std::nullopt);
  const Breakdown breakdown = attribute(profile, excess_of(profile));
  EXPECT_NEAR(breakdown.window_seconds, 0.105, 1e-6);
  for (std::size_t window = 0; window < window_count; ++window) {
    const bool delayed = window >= 9 && window <= 11;  // 1.0 to 1.2 s
    EXPECT_EQ(std::abs(breakdown.windows[window]) > 1e-6, delayed) << window;
  }
}

TEST(Breakdown, SpreadsALongSegmentOverTheWindowsItLasts) {
  Profile profile = plain_profile();  // 1 s
  delay(profile, 99, 1.0F, 0, std::nullopt);
  const Breakdown breakdown = attribute(profile, excess_of(profile));
  EXPECT_NEAR(breakdown.windows[15], 0.1, 0.01);
  EXPECT_NEAR(breakdown.windows[19], 0.1, 0.01);
  EXPECT_NEAR(breakdown.windows[5], 0.0, 1e-6);
}

TEST(Breakdown, SaysHowMuchOfItTheRankWasOffTheCpu) {
  Profile profile = plain_profile();
  delay(profile, 10, 0.020F, 1, TimeKind::point_to_point);
  delay(profile, 20, 0.020F, 1, TimeKind::point_to_point);
  profile.last_rank_off_cpu[10] = 0.018F;
  EXPECT_NEAR(*attribute(profile, excess_of(profile)).off_cpu_seconds, 0.018, 1e-6);
  profile.last_rank_off_cpu.clear();  // an older profile
  EXPECT_FALSE(attribute(profile, excess_of(profile)).off_cpu_seconds);
}

TEST(Breakdown, TellsSleepFromWaitsForACpuInEachSegment) {
  Profile profile = plain_profile();
  delay(profile, 10, 0.020F, 1, std::nullopt);
  delay(profile, 20, 0.020F, 1, std::nullopt);
  profile.last_rank_off_cpu[10] = profile.last_rank_off_cpu[20] = 0.020F;
  const auto slept = [&profile] {
    double seconds = 0.0;
    for (const RankShare& rank : attribute(profile, excess_of(profile)).ranks) seconds += rank.slept_seconds;
    return seconds;
  };
  EXPECT_NEAR(slept(), 0.040, 1e-6);
  profile.lost_to_cpu_wait.assign(100, 0.0F);
  profile.lost_to_cpu_wait[20] = 0.020F;
  profile.lost_to_cpu_wait[30] = 0.008F;  // which says nothing of other segments
  EXPECT_NEAR(slept(), 0.020, 2e-4);
}

TEST(Breakdown, NamesTheGroupsWithTheMostOfIt) {
  Profile profile = plain_profile();
  profile.sites = {"allreduce@app+0x10", "barrier@app+0x20"};
  profile.site.assign(100, 0);
  for (std::size_t i = 50; i < 100; ++i) profile.site[i] = 1;
  delay(profile, 10, 0.020F, 1, std::nullopt);
  delay(profile, 60, 0.050F, 1, std::nullopt);
  const Breakdown breakdown = attribute(profile, excess_of(profile));
  ASSERT_EQ(breakdown.groups.size(), 2u);
  EXPECT_EQ(breakdown.groups[0].site, "barrier@app+0x20");
  EXPECT_EQ(breakdown.groups[0].segments, 50u);
  EXPECT_NEAR(breakdown.groups[0].seconds, 0.050, 1e-6);
  EXPECT_NEAR(breakdown.groups[0].baseline_seconds, 0.010, 1e-6);
}

TEST(TimeSpent, IsThatOfTheRankThatHeldTheOthersUp) {
  Profile profile = plain_profile();
  const SecondsByKind before = time_spent(profile);
  delay(profile, 10, 0.020F, 1, TimeKind::file_io);
  const SecondsByKind after = time_spent(profile);
  for (const ExcessKind kind : {ExcessKind::computation, ExcessKind::point_to_point, ExcessKind::collective}) {
    EXPECT_NEAR(after[static_cast<std::size_t>(kind)], before[static_cast<std::size_t>(kind)], 1e-6);
  }
  const auto file_io = static_cast<std::size_t>(ExcessKind::file_io);
  EXPECT_NEAR(after[file_io] - before[file_io], 0.020, 1e-6);
  EXPECT_NEAR(std::accumulate(before.begin(), before.end(), 0.0), 1.0, 1e-4);
}

TEST(Breakdown, OfNoSegmentsIsNothing) { expect_to_add_up(attribute(uniform_profile(0, 1.0), {}), 0.0); }

TEST(Breakdown, OfAnAnalysisIsThatOfTheMethodThatSpeaks) {
  Profile profile = plain_profile();
  for (std::size_t i = 0; i < 100; i += 10) delay(profile, i, 0.020F, 1, TimeKind::collective);
  const Analysis analysis = analyze(profile, "paper");
  expect_to_add_up(analysis.breakdown, analysis.result().excess_seconds);
  EXPECT_NEAR(of(analysis.breakdown, ExcessKind::collective), analysis.result().excess_seconds, 1e-6);
}

}  // namespace
