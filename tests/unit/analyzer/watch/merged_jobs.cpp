#include "analyzer/watch/merged_jobs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/watch/watched_job.hpp"
#include "tests/truth/running_job.hpp"

namespace halcyon {
namespace {

using truth::RunningJob;

constexpr std::uint64_t second = RunningJob::second;

/// A job of four ranks on two hosts, whose clocks have nothing to do with each other.
struct TwoHosts {
  RunningJob all{4};

  std::vector<HostReading> readings(double seconds_ago = 0.3) const {
    return {reading("node7", {0, 1}, 0, seconds_ago), reading("node8", {2, 3}, 5'000'000 * second, seconds_ago)};
  }

  HostReading reading(const std::string& host, const std::vector<std::uint32_t>& ranks, std::uint64_t ahead,
                      double seconds_ago) const {
    live::PublishedJob published{.job = all.now, .record = "5ca1ab1e", .published_at = 1};
    published.job.file = "live/5ca1ab1e." + host + ".live";
    live::HostNow& here = published.job.hosts.front();
    here.name = host;
    here.start_monotonic += ahead;
    here.read_monotonic += ahead;
    published.job.here.clear();
    for (const std::uint32_t rank : ranks) {
      live::RankNow& now = published.job.here.emplace_back(all.now.here[rank]);
      if (now.totals.segments > 0) now.totals.last_end += ahead;
    }
    return {std::move(published), seconds_ago};
  }
};

live::JobNow one(std::vector<HostReading> readings) {
  MergedJobs jobs = merged(std::move(readings));
  EXPECT_TRUE(jobs.complaints.empty()) << jobs.complaints.front();
  EXPECT_EQ(jobs.jobs.size(), 1U);
  return jobs.jobs.front();
}

TEST(MergedJobs, HaveTheRanksOfAllHosts) {
  TwoHosts job;
  job.all.run(10.0);
  const live::JobNow now = one(job.readings());
  ASSERT_EQ(now.here.size(), 4U);
  EXPECT_EQ(now.file, "5ca1ab1e");
  EXPECT_EQ(now.ranks, 4U);
  EXPECT_EQ(now.hosts[now.here[1].host].name, "node7");
  EXPECT_EQ(now.hosts[now.here[2].host].name, "node8");
}

TEST(MergedJobs, AreWatchedAsIfTheyWereOnOneHost) {
  TwoHosts job;
  WatchedJob apart;
  WatchedJob together;
  for (int i = 0; i < 15; ++i) {
    job.all.run(1.0, 1.0, 0.3);
    apart.look(one(job.readings()));
    together.look(job.all.now);
  }
  EXPECT_EQ(apart.view().state, JobState::running);
  EXPECT_EQ(apart.view().hosts, (std::vector<std::string>{"node7", "node8"}));
  EXPECT_EQ(apart.view().ranks_read, 4U);
  EXPECT_EQ(apart.view().elapsed_seconds, together.view().elapsed_seconds);
  EXPECT_EQ(apart.view().last_boundary_seconds_ago, together.view().last_boundary_seconds_ago);
  EXPECT_EQ(apart.view().progress_rate, together.view().progress_rate);
  EXPECT_EQ(apart.view().interference->percent, together.view().interference->percent);
  EXPECT_EQ(apart.view().slowest_ranks, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(apart.view().slowest_hosts, (std::vector<std::string>{"node7"}));
}

TEST(MergedJobs, TellAStandstillByTheClockOfEachHost) {
  TwoHosts job;
  job.all.run(10.0);
  job.all.pass(8.0);
  WatchedJob watched;
  watched.look(one(job.readings()));
  EXPECT_EQ(watched.view().state, JobState::stands_still);
  EXPECT_NEAR(*watched.view().last_boundary_seconds_ago, 8.0, 0.01);
}

TEST(MergedJobs, LeaveOutAHostOfWhichNothingIsHeard) {
  TwoHosts job;
  job.all.run(10.0);
  std::vector<HostReading> readings = job.readings();
  readings[0].seconds_ago = 25.0;
  for (live::RankNow& rank : readings[0].published.job.here) rank.totals.last_end = 100 * second;
  WatchedJob watched;
  watched.look(one(readings));
  EXPECT_EQ(watched.view().state, JobState::running);
  EXPECT_TRUE(watched.view().dead_ranks.empty());
  EXPECT_EQ(watched.view().ranks_read, 2U);
  ASSERT_EQ(watched.view().stale_hosts.size(), 1U);
  EXPECT_EQ(watched.view().stale_hosts[0].name, "node7");
  EXPECT_EQ(watched.view().stale_hosts[0].seconds, 25.0);
  EXPECT_EQ(watched.view().hosts.size(), 2U);

  readings[1].seconds_ago = 30.0;  // then nothing is known, and nothing is concluded from that
  watched.look(one(readings));
  EXPECT_EQ(watched.view().state, JobState::running);
  EXPECT_EQ(watched.view().stale_hosts.size(), 2U);

  for (HostReading& reading : readings) reading.seconds_ago = 0.0;
  watched.look(one(readings));
  EXPECT_TRUE(watched.view().stale_hosts.empty());
  EXPECT_EQ(watched.view().ranks_read, 4U);
}

TEST(MergedJobs, HaveEndedWhenAllHostsSaySoHoweverOldThatIs) {
  TwoHosts job;
  job.all.run(10.0);
  std::vector<HostReading> readings = job.readings(100.0);
  for (live::RankNow& rank : readings[0].published.job.here) rank.state = live::State::ended;
  readings[1].seconds_ago = 0.0;
  EXPECT_FALSE(one(readings).has_ended());
  for (live::RankNow& rank : readings[1].published.job.here) rank.is_alive = false;
  readings[1].seconds_ago = 100.0;
  EXPECT_TRUE(one(readings).has_ended());
  EXPECT_EQ(one(readings).here.size(), 4U);
}

TEST(MergedJobs, TellADeadRankOnOneHostWhileAnotherRuns) {
  TwoHosts job;
  job.all.run(10.0);
  std::vector<HostReading> readings = job.readings();
  for (live::RankNow& rank : readings[0].published.job.here) rank.is_alive = false;
  WatchedJob watched;
  watched.look(one(readings));
  EXPECT_EQ(watched.view().dead_ranks, (std::vector<std::uint32_t>{0, 1}));
}

void expect_left_out(const std::vector<HostReading>& readings, const std::string& file, const std::string& why) {
  const MergedJobs jobs = merged(readings);
  ASSERT_EQ(jobs.complaints.size(), 1U);
  EXPECT_NE(jobs.complaints[0].find(file), std::string::npos) << jobs.complaints[0];
  EXPECT_NE(jobs.complaints[0].find(why), std::string::npos) << jobs.complaints[0];
  ASSERT_EQ(jobs.jobs.size(), 1U);
  EXPECT_EQ(jobs.jobs[0].here.size(), 2U);
}

TEST(MergedJobs, LeaveOutAFileThatContradictsTheOthers) {
  TwoHosts job;
  job.all.run(10.0);
  const std::string second_file = "5ca1ab1e.node8.live";
  std::vector<HostReading> readings = job.readings();
  readings[1].published.job.ranks = 8;
  expect_left_out(readings, second_file, "its job has 8 ranks, that of live/5ca1ab1e.node7.live has 4");
  readings = job.readings();
  readings[1].published.job.job = "43";
  expect_left_out(readings, second_file, "it is of job '43'");
  readings = job.readings();
  readings[1].published.job.here[0].rank = 1;
  expect_left_out(readings, second_file, "its rank 1 is in live/5ca1ab1e.node7.live, too");
  readings = job.readings();
  readings[1].published.job.here[0].rank = 3;
  expect_left_out(readings, second_file, "its rank 3 is in it a second time");
  readings = job.readings();  // the newer one counts
  readings[0].published.job.ranks = 8;
  readings[0].seconds_ago = 100.0;
  expect_left_out(readings, "5ca1ab1e.node7.live", "its job has 8 ranks");
}

TEST(MergedJobs, AreSeveralIfTheFilesAreOfSeveral) {
  TwoHosts job;
  std::vector<HostReading> readings = job.readings();
  readings[1].published.record = "another";
  const MergedJobs jobs = merged(readings);
  EXPECT_TRUE(jobs.complaints.empty());
  EXPECT_EQ(jobs.jobs.size(), 2U);
  EXPECT_TRUE(merged({}).jobs.empty());
}

}  // namespace
}  // namespace halcyon
