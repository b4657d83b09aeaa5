// Ranks that are behind their peers: by how much, what follows from it, and whose doing it is.
#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/judge/analysis.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using halcyon::testing::uniform_profile;

constexpr std::size_t segments = 800;
constexpr int ranks = 8;
constexpr std::uint32_t behind = 5;  // the rank

enum class By { time, work };

// Rank 5 took 1.25 times as long in all segments, for the same work or because it had more. The eighths differ by
// `scatter`.
Profile with_rank_behind(By by, const std::string& counter, double scatter = 0.0) {
  constexpr double times = 1.25;
  Profile profile = uniform_profile(segments, 0.010, ranks);
  profile.counter = counter;
  profile.last_rank.assign(segments, behind);
  const float lost = 0.002F;  // of 10 ms
  profile.lost_to_slower_ranks.assign(segments, by == By::time ? lost : 0.0F);
  profile.lost_to_more_work.assign(segments, by == By::work ? lost : 0.0F);
  profile.sections.place.assign(RankSections::eighths, "");
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t eighth = 0; eighth < RankSections::eighths; ++eighth) {
      const double of_eighth = rank == behind ? times + (eighth % 2 == 0 ? scatter : -scatter) : 1.0;
      profile.sections.computing.push_back(static_cast<float>(0.8 * of_eighth));
      profile.sections.work.push_back(static_cast<float>(1e9 * (by == By::work ? of_eighth : 1.0)));
      profile.sections.waiting.push_back(0.0F);
      profile.sections.file_io.push_back(0.0F);
      profile.sections.device.push_back(0.0F);
    }
  }
  profile.evidence[index_of(Evidence::cpus)].assign(ranks, 64.0);
  return profile;
}

void add_probes(Profile& profile, double times_of_rank) {
  profile.rank_cpu.assign(ranks, "a processor");
  ProbeColumns& probe = profile.probes[index_of(Probe::registers)];
  for (std::vector<double>* best : {&probe.best_before, &probe.best_after}) {
    best->assign(ranks, 0.001);
    (*best)[behind] *= times_of_rank;
  }
}

Analysis analyzed(const Profile& profile) { return analyze(profile, methods.front().name); }

Whose whose(const std::vector<RankBehind>& found) {
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? Whose::unknown : found.front().whose;
}

TEST(SlowRank, IsTheMachinesWhereItDidAsManyInstructions) {
  const Analysis analysis = analyzed(with_rank_behind(By::time, "papi:PAPI_TOT_INS", 0.02));
  ASSERT_EQ(analysis.peers.slower.size(), 1u);
  const RankBehind& rank = analysis.peers.slower.front();
  EXPECT_EQ(rank.rank, behind);
  EXPECT_EQ(rank.whose, Whose::machine);
  EXPECT_NEAR(rank.times, 1.25, 1e-4);
  EXPECT_LT(rank.times_interval.low, 1.25);
  EXPECT_GT(rank.times_interval.low, 1.22);
  EXPECT_NEAR(rank.lost_seconds, 0.2 * 8.0, 1e-3);
  EXPECT_LT(rank.lost_interval_seconds.low, rank.lost_seconds);
  EXPECT_GT(rank.lost_interval_seconds.high, rank.lost_seconds);
  EXPECT_TRUE(analysis.peers.more_work.empty());
}

TEST(SlowRank, IsAPartOfTheInterferenceThatDurationsDoNotShow) {
  const Analysis analysis = analyzed(with_rank_behind(By::time, "papi:PAPI_TOT_INS"));
  const MethodResult& result = analysis.result();
  EXPECT_NEAR(result.slow_ranks_percent, 20.0, 0.1);
  EXPECT_NEAR(result.interference_percent, 20.0, 0.2);
  EXPECT_NEAR(result.instantaneous_percent() + result.continuous_percent + result.speed_percent, 0.0, 0.2);
  EXPECT_EQ(result.verdict, Verdict::red);
  EXPECT_NEAR(analysis.breakdown.seconds, result.excess_seconds, 1e-3);
  ASSERT_TRUE(analysis.cause);
  EXPECT_EQ(analysis.cause->code, "slow-rank");
  EXPECT_NE(analysis.cause->text.find("rank 5 on host took 1.25 times as long"), std::string::npos)
      << analysis.cause->text;
}

TEST(Imbalance, IsTheProgramsWhereTheRankDidMoreInstructions) {
  const Analysis analysis = analyzed(with_rank_behind(By::work, "papi:PAPI_TOT_INS"));
  EXPECT_TRUE(analysis.peers.slower.empty());
  EXPECT_EQ(whose(analysis.peers.more_work), Whose::program);
  EXPECT_EQ(analysis.result().verdict, Verdict::green);
  EXPECT_EQ(analysis.result().slow_ranks_percent, 0.0);
}

TEST(Imbalance, MayBeASlowCoreByCpuTimeUnlessProbesTell) {
  Profile profile = with_rank_behind(By::work, "cpu");
  EXPECT_EQ(whose(analyzed(profile).peers.more_work), Whose::unknown);
  add_probes(profile, 1.02);
  EXPECT_EQ(whose(analyzed(profile).peers.more_work), Whose::program);
  add_probes(profile, 1.25);
  EXPECT_EQ(whose(analyzed(profile).peers.more_work), Whose::machine);
}

TEST(SlowRank, ByCpuTimeWaitedForTheCpuThatOthersHadOrSlept) {
  Profile profile = with_rank_behind(By::time, "cpu");
  std::vector<double>& waits = profile.evidence[index_of(Evidence::cpu_wait)];
  EXPECT_EQ(whose(analyzed(profile).peers.slower), Whose::unknown);
  EXPECT_EQ(analyzed(profile).result().slow_ranks_percent, 0.0);
  waits[behind] = 1.6;
  EXPECT_EQ(whose(analyzed(profile).peers.slower), Whose::machine);
  EXPECT_NEAR(analyzed(profile).result().slow_ranks_percent, 20.0, 0.1);
  profile.evidence[index_of(Evidence::cpus)].assign(ranks, 4.0);  // fewer than ranks: they waited for each other
  EXPECT_EQ(whose(analyzed(profile).peers.slower), Whose::program);
  EXPECT_EQ(analyzed(profile).result().slow_ranks_percent, 0.0);
}

TEST(SlowRank, MayHaveSleptInShortStretches) {
  Profile profile = with_rank_behind(By::time, "papi:PAPI_TOT_INS");
  profile.evidence[index_of(Evidence::off_cpu)][behind] = 1.6;
  EXPECT_EQ(whose(analyzed(profile).peers.slower), Whose::unknown);
}

TEST(SlowRank, IsNotToldOfScatter) {
  EXPECT_TRUE(analyzed(with_rank_behind(By::time, "papi:PAPI_TOT_INS", 0.5)).peers.slower.empty());
}

TEST(Peers, OfARankWithoutAPartAreTheOthers) {
  Profile profile = with_rank_behind(By::time, "papi:PAPI_TOT_INS");
  for (auto* column : {&profile.sections.computing, &profile.sections.work, &profile.sections.waiting,
                       &profile.sections.file_io, &profile.sections.device}) {
    std::fill_n(column->begin(), RankSections::eighths, std::nanf(""));  // of rank 0
  }
  EXPECT_EQ(whose(analyzed(profile).peers.slower), Whose::machine);
}

}  // namespace
