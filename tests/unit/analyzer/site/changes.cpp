#include "analyzer/site/changes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numbers>

#include "tests/unit/analyzer/site/synthetic_site.hpp"

namespace {

using namespace halcyon;

// With hosts that are all alike: the ranking has tests of its own.
WorkChanges changes_without_nodes(std::uint32_t work, const std::vector<SiteRun>& runs) {
  NodeRanking nodes;
  nodes.slowed.assign(runs.size(), 0.0);
  nodes.slowed_error.assign(runs.size(), 0.0);
  return changes_of(work, runs, nodes, levels_beside_nodes(runs, nodes));
}

bool contains(const Interval& interval, double value) { return interval.low <= value && value <= interval.high; }

SyntheticSite usual_site() {
  SyntheticSite site;
  site.works = 12;
  site.days = 200.0;
  return site;
}

double after_day(double day, double size, double at = 100.0) { return day >= at ? size : 0.0; }

TEST(Changes, OfOneWorkAreItsCodes) {
  SyntheticSite site = usual_site();
  site.need = [](std::uint32_t work, double day) { return work == 2 ? after_day(day, std::log(1.06)) : 0.0; };
  const std::vector<SiteRun> runs = runs_of(site);
  const WorkChanges found = changes_without_nodes(2, runs);
  ASSERT_EQ(found.changes.size(), 1U);
  const Change& change = found.changes.front();
  EXPECT_EQ(change.of, ChangeOf::code);
  EXPECT_TRUE(contains(change.day_interval, 100.0)) << change.day_interval.low << " " << change.day_interval.high;
  EXPECT_NEAR(change.day, 100.0, 3.0);
  EXPECT_NEAR(change.percent, 6.0, 0.6);
  EXPECT_LT(change.interval_percent.high - change.interval_percent.low, 2.0);
  EXPECT_GE(change.others, 10U);
  EXPECT_TRUE(changes_without_nodes(3, runs).changes.empty());
  EXPECT_FALSE(found.drifts);
}

TEST(Changes, OfAPartitionAreTheMachinesThereAndNobodysElsewhere) {
  SyntheticSite site = usual_site();
  site.works = 24;
  site.pool = [](std::uint32_t work) { return std::pair(8 * (work / 12), 8U); };
  site.need = [](std::uint32_t work, double day) { return work >= 12 ? after_day(day, std::log(1.04)) : 0.0; };
  const std::vector<SiteRun> runs = runs_of(site);
  for (const std::uint32_t work : {1U, 5U}) EXPECT_TRUE(changes_without_nodes(work, runs).changes.empty()) << work;
  for (const std::uint32_t work : {14U, 20U}) {
    const WorkChanges found = changes_without_nodes(work, runs);
    ASSERT_EQ(found.changes.size(), 1U) << work;
    EXPECT_EQ(found.changes.front().of, ChangeOf::machine);
    EXPECT_NEAR(found.changes.front().percent, 4.0, 0.5);
    EXPECT_EQ(found.changes.front().others, 11U);
  }
}

TEST(Changes, OfAllWorksAreTheMachines) {
  SyntheticSite site = usual_site();
  site.need = [](std::uint32_t, double day) { return after_day(day, std::log(1.04)); };
  const WorkChanges found = changes_without_nodes(2, runs_of(site));
  ASSERT_EQ(found.changes.size(), 1U);
  EXPECT_EQ(found.changes.front().of, ChangeOf::machine);
  EXPECT_NEAR(found.changes.front().day, 100.0, 3.0);
  EXPECT_NEAR(found.changes.front().percent, 4.0, 0.3);
}

// The others of the site do not know of it.
TEST(Changes, OfTheHostsOfSomeWorksAreNotTheCodes) {
  SyntheticSite site = usual_site();
  site.works = 24;
  site.pool = [](std::uint32_t work) { return std::pair(work < 8 ? 0U : 8U, 8U); };
  site.need = [](std::uint32_t work, double day) { return work < 8 ? after_day(day, std::log(1.04)) : 0.0; };
  const std::vector<SiteRun> runs = runs_of(site);
  for (std::uint32_t work = 0; work < 8; ++work) {
    const WorkChanges found = changes_without_nodes(work, runs);
    EXPECT_FALSE(found.changes.empty());
    for (const Change& change : found.changes) EXPECT_EQ(change.of, ChangeOf::machine) << "work " << work;
  }
}

TEST(Changes, AreNotMadeBySeasonsOrDrift) {
  SyntheticSite site = usual_site();
  site.days = 400.0;
  site.need = [](std::uint32_t work, double day) {
    return 0.02 * std::sin(2.0 * std::numbers::pi * day / 365.0) + (work == 2 ? 0.1 * day / 400.0 : 0.0);
  };
  const std::vector<SiteRun> runs = runs_of(site);
  EXPECT_TRUE(changes_without_nodes(3, runs).changes.empty());
  const WorkChanges of_drifting = changes_without_nodes(2, runs);
  EXPECT_TRUE(of_drifting.changes.empty());
  EXPECT_TRUE(of_drifting.drifts);
}

TEST(Changes, AreUnclearWithoutOthers) {
  SyntheticSite site = usual_site();
  site.works = 1;
  site.need = [](std::uint32_t, double day) { return after_day(day, std::log(1.06)); };
  const WorkChanges found = changes_without_nodes(0, runs_of(site));
  ASSERT_EQ(found.changes.size(), 1U);
  EXPECT_EQ(found.changes.front().of, ChangeOf::unclear);
  EXPECT_FALSE(found.changes.front().others_percent);
}

TEST(Changes, AreUnclearWithFewOthersEvenIfTheyDoTheSame) {
  SyntheticSite site = usual_site();
  site.works = 3;
  site.need = [](std::uint32_t, double day) { return after_day(day, std::log(1.06)); };
  const WorkChanges found = changes_without_nodes(0, runs_of(site));
  ASSERT_EQ(found.changes.size(), 1U);
  EXPECT_EQ(found.changes.front().of, ChangeOf::unclear);
  EXPECT_EQ(found.changes.front().others, 2U);
}

// What the only host adds is what the machine does.
TEST(Changes, OfTheOnlyHostAreTheMachines) {
  SyntheticSite site{.hosts = 1, .hosts_a_run = 1};
  site.slowness = [](std::uint32_t, double day) { return after_day(day, std::log(1.05), 50.0); };
  const std::vector<SiteRun> runs = runs_of(site);
  const NodeRanking nodes = rank_nodes(runs);
  const WorkChanges found = changes_of(1, runs, nodes, levels_beside_nodes(runs, nodes));
  ASSERT_EQ(found.changes.size(), 1U);
  EXPECT_EQ(found.changes.front().of, ChangeOf::machine);
  EXPECT_TRUE(contains(found.changes.front().interval_percent, 5.0));
}

// Though the means of long stretches differ by more.
TEST(Changes, HaveTheirSizeBesideADrift) {
  SyntheticSite site = usual_site();
  site.days = 400.0;
  site.need = [](std::uint32_t work, double day) {
    return work == 2 ? 0.03 * day / 400.0 + after_day(day, std::log(1.06), 200.0) : 0.0;
  };
  const WorkChanges found = changes_without_nodes(2, runs_of(site));
  ASSERT_EQ(found.changes.size(), 1U);
  EXPECT_TRUE(contains(found.changes.front().interval_percent, 6.0))
      << found.changes.front().interval_percent.low << " " << found.changes.front().interval_percent.high;
}

TEST(Changes, NameTheVersionThatCameThen) {
  SyntheticSite site = usual_site();
  site.seed = 2;
  site.jitter = 0.03;
  site.need = [](std::uint32_t work, double day) { return work == 2 ? after_day(day, std::log(1.013)) : 0.0; };
  std::vector<SiteRun> runs = runs_of(site);
  EXPECT_TRUE(changes_without_nodes(2, runs).changes.empty());  // too small to be found anywhere
  for (SiteRun& run : runs) run.label = run.day < 100.0 ? "1.0 input=a" : "1.1 input=a";
  const WorkChanges found = changes_without_nodes(2, runs);
  ASSERT_EQ(found.changes.size(), 1U);
  EXPECT_EQ(found.changes.front().label, "1.1");
}

TEST(Changes, AreNotMadeByWrongEstimates) {
  SyntheticSite site = usual_site();
  std::vector<SiteRun> runs = runs_of(site);
  std::mt19937_64 random(3);
  std::bernoulli_distribution is_wrong(0.1);
  std::uniform_real_distribution<> too_much(0.05, 0.5);
  for (SiteRun& run : runs)
    if (is_wrong(random)) run.log_seconds += too_much(random);
  for (std::uint32_t work = 0; work < site.works; ++work)
    EXPECT_TRUE(changes_without_nodes(work, runs).changes.empty()) << "work " << work;
}

TEST(Changes, OfTheLossAreToldApart) {
  SyntheticSite site = usual_site();
  std::vector<SiteRun> runs = runs_of(site);
  std::mt19937_64 random(3);
  std::exponential_distribution<> loss(1.0);
  for (SiteRun& run : runs) run.lost_share = std::min(0.9, loss(random) * (run.day < 100.0 ? 0.02 : 0.1));
  const WorkChanges found = changes_without_nodes(2, runs);
  EXPECT_TRUE(found.changes.empty());
  ASSERT_EQ(found.losses.size(), 1U);
  EXPECT_NEAR(found.losses.front().day, 100.0, 5.0);
  EXPECT_NEAR(found.losses.front().points, 8.0, 3.0);
  EXPECT_GT(found.losses.front().interval_points.low, 3.0);
}

// Three in ten lose much, at any time; the others a half percent, but for the last digits.
TEST(Changes, OfTheLossAreNotMadeByRoundingOrByAFewGreatLosses) {
  SyntheticSite site = usual_site();
  std::vector<SiteRun> runs = runs_of(site);
  std::mt19937_64 random(5);
  std::bernoulli_distribution is_disturbed(0.3);
  std::exponential_distribution<> loss(10.0);
  for (SiteRun& run : runs) {
    run.lost_share = is_disturbed(random) ? std::min(0.9, loss(random)) : 0.005 + (run.day < 100.0 ? 0.0 : 1e-16);
  }
  for (std::uint32_t work = 0; work < site.works; ++work) {
    for (const LossChange& change : changes_without_nodes(work, runs).losses)
      EXPECT_TRUE(excludes_zero(change.interval_points)) << "work " << work << ", " << change.points << " points";
  }
  for (SiteRun& run : runs) run.lost_share = 0.005 + (run.day < 100.0 ? 0.0 : 1e-16);
  EXPECT_TRUE(changes_without_nodes(2, runs).losses.empty());
}

// Whose intervals hold, all at the same end.
TEST(Changes, AreNotMadeByWeeksInWhichAllRunsAreDisturbed) {
  SyntheticSite site = usual_site();
  site.need = [](std::uint32_t work, double day) { return work == 2 ? after_day(day, std::log(1.06), 150.0) : 0.0; };
  std::vector<SiteRun> runs = runs_of(site);
  for (SiteRun& run : runs) {
    if (run.day < 60.0 || run.day > 100.0) continue;
    run.lost_share = 0.8;
    run.log_error = 0.2;
    run.log_seconds += 1.6 * run.log_error;
  }
  for (const std::uint32_t work : {1U, 2U, 3U}) {
    const WorkChanges found = changes_without_nodes(work, runs);
    EXPECT_EQ(found.changes.size(), work == 2 ? 1U : 0U) << "work " << work;
    ASSERT_EQ(found.losses.size(), 2U) << "work " << work;
    EXPECT_NEAR(found.losses.front().points, 80.0, 1.0);
    EXPECT_NEAR(found.losses.back().points, -80.0, 1.0);
  }
  EXPECT_NEAR(changes_without_nodes(2, runs).changes.front().percent, 6.0, 1.0);
}

TEST(Changes, OfAWorkWithoutRunsAreNone) {
  SyntheticSite site = usual_site();
  std::vector<SiteRun> runs = runs_of(site);
  EXPECT_TRUE(changes_without_nodes(99, runs).changes.empty());
  EXPECT_EQ(changes_without_nodes(2, {}).runs, 0U);
  for (SiteRun& run : runs)
    if (run.work == 2) run.log_seconds = std::numeric_limits<double>::infinity();
  EXPECT_EQ(changes_without_nodes(2, runs).runs, 0U);
}

}  // namespace
