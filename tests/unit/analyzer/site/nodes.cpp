#include "analyzer/site/nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/unit/analyzer/site/synthetic_site.hpp"

namespace {

using namespace halcyon;

std::vector<std::uint32_t> listed(const NodeRanking& ranking) {
  std::vector<std::uint32_t> hosts;
  for (const HostEffect& one : ranking.hosts)
    if (one.is_listed) hosts.push_back(one.host);
  return hosts;
}

bool holds(const Interval& interval, double value) { return interval.low <= value && value <= interval.high; }

using Hosts = std::vector<std::uint32_t>;

TEST(Nodes, TellWhichHostIsSlowByHowMuchAndSinceWhen) {
  SyntheticSite site;
  site.slowness = [](std::uint32_t host, double day) { return host == 7 && day >= 60.0 ? std::log(1.1) : 0.0; };
  const NodeRanking ranking = rank_nodes(runs_of(site));
  ASSERT_EQ(listed(ranking), (Hosts{7}));
  const HostEffect& slow = ranking.hosts.front();
  EXPECT_NEAR(slow.percent, 10.0, 1.0);
  EXPECT_LT(slow.interval_percent.high - slow.interval_percent.low, 2.0);
  ASSERT_TRUE(slow.since_days);
  EXPECT_NEAR(slow.since_days->low, 60.0, 3.0);
  EXPECT_NEAR(slow.since_days->high, 60.0, 3.0);
}

TEST(Nodes, HaveACourseThatShowsWhenTheyBecameSlow) {
  SyntheticSite site;
  site.slowness = [](std::uint32_t host, double day) { return host == 7 && day >= 60.0 ? std::log(1.1) : 0.0; };
  NodeSettings settings;
  EXPECT_TRUE(rank_nodes(runs_of(site), settings).hosts.front().course.empty());
  settings.points_of_course = 20;
  const NodeRanking ranking = rank_nodes(runs_of(site), settings);
  const HostEffect& slow = ranking.hosts.front();
  ASSERT_EQ(slow.host, 7U);
  EXPECT_GT(slow.course.size(), 15U);
  for (const HostLevel& level : slow.course) {
    if (std::abs(level.day - 60.0) < 5.0) continue;
    EXPECT_NEAR(level.percent, level.day > 60.0 ? 10.0 : 0.0, 1.5) << level.day;
    EXPECT_TRUE(holds(level.interval_percent, level.percent)) << level.day;
  }
  EXPECT_EQ(slow.course.back().percent, slow.percent);
}

TEST(Nodes, OnesThatWereSlowFromTheirFirstRunHaveNoDay) {
  SyntheticSite site;
  site.slowness = [](std::uint32_t host, double) { return host == 3 ? std::log(1.2) : 0.0; };
  const NodeRanking ranking = rank_nodes(runs_of(site));
  ASSERT_EQ(listed(ranking), (Hosts{3}));
  EXPECT_FALSE(ranking.hosts.front().since_days);
}

TEST(Nodes, ThatTakeManyTimesAsLongAreTold) {
  SyntheticSite site;
  site.slowness = [](std::uint32_t host, double) { return host == 3 ? std::log(12.0) : 0.0; };
  const NodeRanking ranking = rank_nodes(runs_of(site));
  ASSERT_EQ(listed(ranking), (Hosts{3}));
  EXPECT_NEAR(ranking.hosts.front().percent, 1100.0, 50.0);
}

TEST(Nodes, ThatWereRepairedAreNotListed) {
  SyntheticSite site;
  site.slowness = [](std::uint32_t host, double day) { return host == 3 && day < 50.0 ? std::log(1.2) : 0.0; };
  EXPECT_EQ(listed(rank_nodes(runs_of(site))), Hosts());
}

TEST(Nodes, AreNotListedWhereAllAreAlike) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SyntheticSite site{.seed = seed};
    EXPECT_EQ(listed(rank_nodes(runs_of(site))), Hosts()) << "seed " << seed;
  }
}

// The mean chance of a mistake stays small for one more, too.
TEST(Nodes, OneThatIsNotSlowIsNotListedBehindManyThatAre) {
  SyntheticSite site;
  site.hosts = 48;
  site.hosts_a_run = 1;
  site.days = 200.0;
  site.slowness = [](std::uint32_t host, double) { return host >= 26 ? std::log(1.2) : 0.0; };
  const NodeRanking ranking = rank_nodes(runs_of(site));
  for (const HostEffect& one : ranking.hosts)
    EXPECT_EQ(one.is_listed, one.chance_slow > 0.5) << one.host << " " << one.chance_slow;
}

TEST(Nodes, ARunIsAsSlowAsTheSlowestOneOfThem) {
  SyntheticSite site;
  site.slowness = [](std::uint32_t host, double) {
    return host == 1 ? std::log(1.05) : host == 2 ? std::log(1.2) : 0.0;
  };
  const std::vector<SiteRun> runs = runs_of(site);
  const NodeRanking ranking = rank_nodes(runs);
  ASSERT_EQ(listed(ranking).size(), 2U);
  for (const HostEffect& one : ranking.hosts)
    EXPECT_TRUE(!one.is_listed || std::abs(one.percent - (one.host == 1 ? 5.0 : 20.0)) < 1.5) << one.host;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (std::ranges::find(runs[i].hosts, 2U) == runs[i].hosts.end()) continue;
    EXPECT_NEAR(ranking.slowed[i], std::log(1.2), 0.02);
  }
}

TEST(Nodes, AWorkThatGotSlowerEverywhereMakesNone) {
  SyntheticSite site;
  site.need = [](std::uint32_t work, double day) { return work == 0 && day >= 40.0 ? 0.2 : 0.0; };
  EXPECT_EQ(listed(rank_nodes(runs_of(site))), Hosts());
}

// As if a neighbour were there for a month: the runs are unsure, and all at the same end of their intervals.
std::vector<SiteRun> runs_with_a_neighbour(const SyntheticSite& site) {
  std::vector<SiteRun> runs = runs_of(site);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<> times_as_unsure(2.0, 8.0);
  for (SiteRun& run : runs) {
    if (run.day < 70.0 || std::ranges::find(run.hosts, 5U) == run.hosts.end()) continue;
    run.log_error *= times_as_unsure(random);
    run.log_seconds += 1.5 * run.log_error;
  }
  return runs;
}

TEST(Nodes, ThatOnlyMakeRunsUnsureAreNotListed) {
  SyntheticSite site{.jitter = 0.005};
  EXPECT_EQ(listed(rank_nodes(runs_with_a_neighbour(site))), Hosts());
}

TEST(Nodes, ThatMakeRunsUnsureAreListedIfTheyAreSlowBesides) {
  SyntheticSite site{.jitter = 0.005};
  site.slowness = [](std::uint32_t host, double day) { return host == 5 && day >= 40.0 ? std::log(1.05) : 0.0; };
  const NodeRanking ranking = rank_nodes(runs_with_a_neighbour(site));
  ASSERT_EQ(listed(ranking), (Hosts{5}));
  EXPECT_TRUE(holds(ranking.hosts.front().interval_percent, 5.0));
}

TEST(Nodes, OfTwoTheSlowerOneIsTold) {
  SyntheticSite site{.hosts = 2, .hosts_a_run = 1};
  site.slowness = [](std::uint32_t host, double day) { return host == 1 && day >= 50.0 ? std::log(1.05) : 0.0; };
  const NodeRanking ranking = rank_nodes(runs_of(site));
  ASSERT_EQ(listed(ranking), (Hosts{1}));
  EXPECT_TRUE(holds(ranking.hosts.front().interval_percent, 5.0));
}

// As a new one under the same name may be.
TEST(Nodes, ThatBecomeMuchFasterAreToldToBe) {
  SyntheticSite site{.hosts_a_run = 1};
  site.slowness = [](std::uint32_t host, double day) { return host == 5 && day >= 50.0 ? -0.3 : 0.0; };
  const NodeRanking ranking = rank_nodes(runs_of(site));
  EXPECT_EQ(listed(ranking), Hosts());
  const auto fast = std::ranges::find(ranking.hosts, 5U, &HostEffect::host);
  EXPECT_NEAR(fast->percent, 100.0 * std::expm1(-0.3), 1.0);
}

// Nothing else ran there: the work may need that much.
TEST(Nodes, OnesOfASingleWorkAreNotTold) {
  SyntheticSite site;
  site.hosts_a_run = 2;
  site.pool = [](std::uint32_t work) { return work == 0 ? std::pair(0U, 2U) : std::pair(2U, 14U); };
  site.slowness = [](std::uint32_t host, double) { return host < 2 ? std::log(1.2) : 0.0; };
  EXPECT_EQ(listed(rank_nodes(runs_of(site))), Hosts());
}

// Always the same hosts, and runs of any length: only the times of hosts tell.
TEST(Nodes, AreComparedWithinARunIfTheirTimesAreKnown) {
  SyntheticSite site;
  site.hosts_a_run = 16;
  site.jitter = 0.3;
  std::vector<SiteRun> runs = runs_of(site);
  EXPECT_EQ(listed(rank_nodes(runs)), Hosts());
  std::mt19937_64 random(5);
  std::normal_distribution<> jitter(0.0, 0.02);
  for (SiteRun& run : runs)
    for (const std::uint32_t host : run.hosts)
      run.log_host_seconds.push_back(run.log_seconds + (host == 4 ? std::log(1.03) : 0.0) + jitter(random));
  const NodeRanking ranking = rank_nodes(runs);
  ASSERT_EQ(listed(ranking), (Hosts{4}));
  EXPECT_TRUE(holds(ranking.hosts.front().interval_percent, 3.0));
}

TEST(Nodes, RunsThatCannotBeUsedAreLeftOutAndCounted) {
  SyntheticSite site;
  std::vector<SiteRun> runs = runs_of(site);
  runs[3].log_seconds = std::numeric_limits<double>::quiet_NaN();
  runs[5].log_error = -1.0;
  runs[7].hosts.clear();
  runs[9].log_host_seconds = {1.0};
  runs[11].log_error = 1e300;  // whose square is not finite
  const NodeRanking ranking = rank_nodes(runs);
  EXPECT_EQ(ranking.left_out, 5U);
  EXPECT_EQ(ranking.slowed.size(), runs.size());
  EXPECT_TRUE(rank_nodes({}).hosts.empty());
}

}  // namespace
