#include "ledger/ledger.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>

#include "ledger/queries.hpp"
#include "ledger/schema.hpp"
#include "ledger/site_history.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::ledger;

constexpr std::int64_t ns = 1000000000;
constexpr std::int64_t first_run = 1700000000 * ns;

SpooledRun stored_run(std::int64_t start, const std::string& key, double run_time = 3600.0,
                      double undisturbed = 3240.0) {
  SpooledRun run{.checksum = "of " + key};
  run.record.work = {"00000000000000aa", "solve", "solve -n 1"};
  run.record.run = {.run = start,
                    .key = key,
                    .work = run.record.work.work,
                    .user_name = "alice",
                    .ranks = 4,
                    .hosts = 2,
                    .run_time_seconds = run_time,
                    .undisturbed_seconds = undisturbed,
                    .undisturbed_low_seconds = undisturbed - 36.0,
                    .undisturbed_high_seconds = undisturbed + 18.0,
                    .verdict = "yellow",
                    .slice_seconds = 1};
  run.record.hosts = {{.host = "a", .ranks = 2, .excess_seconds = run_time - undisturbed}, {.host = "b", .ranks = 2}};
  run.record.slices.resize(77);  // of no round number, so that statements of several sizes are used
  for (std::size_t i = 0; i < run.record.slices.size(); ++i)
    run.record.slices[i].second = start / ns + static_cast<std::int64_t>(i);
  return run;
}

class LedgerInAFile : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = ::testing::TempDir() + "halcyon-ledger-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    Outcome<Ledger> opened = Ledger::open(directory_ + "/site.db", Use::writes);
    ASSERT_TRUE(opened) << opened.failure().message;
    ledger_.emplace(std::move(*opened));
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Stored stored(const SpooledRun& run, bool replaces = false) {
    Stored outcome{};
    const Status done = ledger_->in_transaction([&]() -> Status {
      const Outcome<Stored> stored = ledger_->store(run, replaces);
      if (!stored) return stored.failure();
      outcome = *stored;
      return Done{};
    });
    EXPECT_TRUE(done) << done.failure().message;
    return outcome;
  }
  std::int64_t count_of(std::string_view table) {
    std::int64_t count = -1;
    const Status counted = ledger_->connection().run("SELECT COUNT(*) FROM " + std::string(table), {},
                                                     [&](const Row& row) { count = std::get<std::int64_t>(row[0]); });
    EXPECT_TRUE(counted);
    return count;
  }

  std::string directory_;
  std::optional<Ledger> ledger_;
};

TEST_F(LedgerInAFile, ARunComesBackAsItWasStored) {
  const SpooledRun run = stored_run(first_run, "0000000000000001");
  EXPECT_EQ(stored(run), Stored::now);
  const Outcome<std::vector<PastRun>> runs = past_runs(*ledger_, "", {}, 10);
  ASSERT_TRUE(runs) << runs.failure().message;
  ASSERT_EQ(runs->size(), 1u);
  for (const Column<RunRow>& column : columns_of<RunRow>()) {
    EXPECT_EQ(value_of(runs->front().run, column), value_of(run.record.run, column)) << column.name;
  }
  EXPECT_EQ(runs->front().hosts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(count_of(slice_table), 77);
}

TEST_F(LedgerInAFile, ARunIsStoredOnceAndReplacedIfAsked) {
  const SpooledRun run = stored_run(first_run, "0000000000000001");
  SpooledRun other = run;
  other.checksum = "other";
  other.record.slices.resize(5);
  EXPECT_EQ(stored(run), Stored::now);
  EXPECT_EQ(stored(run), Stored::before);
  EXPECT_EQ(stored(other), Stored::with_other_contents);
  EXPECT_EQ(count_of(slice_table), 77);
  EXPECT_EQ(stored(other, true), Stored::now);
  EXPECT_EQ(count_of(run_table), 1);
  EXPECT_EQ(count_of(slice_table), 5);
}

TEST_F(LedgerInAFile, RunsThatBeganAtTheSameTimeGetNumbersOfTheirOwn) {
  EXPECT_EQ(stored(stored_run(first_run, "0000000000000001")), Stored::now);
  EXPECT_EQ(stored(stored_run(first_run, "0000000000000002")), Stored::now);
  EXPECT_EQ(stored(stored_run(first_run, "0000000000000002")), Stored::before);
  EXPECT_EQ(count_of(run_table), 2);
}

TEST_F(LedgerInAFile, ATimeOfAClockThatWasNotSetIsRefused) {
  EXPECT_EQ(stored(stored_run(1000, "0000000000000001")), Stored::not_at_that_time);
  EXPECT_EQ(stored(stored_run(std::numeric_limits<std::int64_t>::max(), "0000000000000001")), Stored::not_at_that_time);
  EXPECT_EQ(count_of(run_table), 0);
}

TEST_F(LedgerInAFile, WhatFailsLeavesNothingBehind) {
  const Status failed = ledger_->in_transaction([&]() -> Status {
    EXPECT_TRUE(ledger_->store(stored_run(first_run, "0000000000000001")));
    return Failure{"on purpose"};
  });
  EXPECT_EQ(failed.failure().message, "on purpose");
  EXPECT_EQ(count_of(run_table), 0);
  EXPECT_EQ(stored(stored_run(first_run, "0000000000000001")), Stored::now);
}

TEST_F(LedgerInAFile, LossesAddUpAndTheirIntervalsInQuadrature) {
  for (const char* key : {"0000000000000001", "0000000000000002", "0000000000000003", "0000000000000004"}) {
    stored(stored_run(first_run, key));
  }
  SpooledRun injected = stored_run(first_run, "0000000000000005");
  injected.record.run.is_injected = 1;
  stored(injected);
  SpooledRun unknown = stored_run(first_run, "0000000000000006");
  unknown.record.run.undisturbed_seconds.reset();
  stored(unknown);
  const Outcome<std::vector<Loss>> losses_of_users = losses(*ledger_, By::user, {});
  ASSERT_TRUE(losses_of_users) << losses_of_users.failure().message;
  ASSERT_EQ(losses_of_users->size(), 1u);
  const Loss& loss = losses_of_users->front();
  EXPECT_EQ(loss.runs, 5);
  EXPECT_EQ(loss.judged_runs, 4);
  EXPECT_NEAR(loss.node_hours, 10.0, 1e-9);
  EXPECT_NEAR(loss.judged_node_hours, 8.0, 1e-9);
  EXPECT_NEAR(loss.lost_node_hours, 4 * 0.2, 1e-9);
  EXPECT_NEAR(loss.low_node_hours, 0.8 - 2 * 0.01, 1e-9);  // two of the root of four: 18 s on two hosts each
  EXPECT_NEAR(loss.high_node_hours, 0.8 + 2 * 0.02, 1e-9);
  const Outcome<std::vector<Loss>> losses_of_hosts = losses(*ledger_, By::host, {});
  ASSERT_TRUE(losses_of_hosts);
  ASSERT_EQ(losses_of_hosts->size(), 2u);
  EXPECT_EQ(losses_of_hosts->front().name, "a");
  EXPECT_NEAR(losses_of_hosts->front().lost_node_hours, 0.8, 1e-9);
  EXPECT_NEAR(losses_of_hosts->front().high_node_hours, 0.84, 1e-9);
  EXPECT_NEAR(losses_of_hosts->back().lost_node_hours, 0.0, 1e-9);
}

TEST_F(LedgerInAFile, WhatIsOldIsRemoved) {
  stored(stored_run(first_run, "0000000000000001"));
  stored(stored_run(first_run + 100 * ns, "0000000000000002"));
  const Outcome<Ledger::Removed> slices = ledger_->slim(first_run + 50 * ns, 0);
  ASSERT_TRUE(slices);
  EXPECT_EQ(slices->slices, 77);
  EXPECT_EQ(slices->runs, 0);
  const Outcome<Ledger::Removed> runs = ledger_->slim(0, first_run + 50 * ns);
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->runs, 1);
  EXPECT_EQ(count_of(host_table), 2);
}

TEST(FileSystems, ThoseThatSeveralHostsShareAreRefused) {
  EXPECT_NE(objection_to_file_system(0x6969).find("NFS"), std::string::npos);
  EXPECT_EQ(objection_to_file_system(0xef53), "");  // ext4
}

SpooledRun on_cluster(std::int64_t start, const std::string& key, const std::string& cluster) {
  SpooledRun run = stored_run(start, key);
  run.record.run.cluster = cluster;
  run.record.run.exit_state = "finalized";
  return run;
}

// Another cluster may have hosts of the same names, and other processors.
TEST_F(LedgerInAFile, WorksAndHostsOfTwoClustersAreDifferentInAHistory) {
  stored(on_cluster(first_run, "0000000000000001", "big"));
  stored(on_cluster(first_run + ns, "0000000000000002", "small"));
  stored(on_cluster(first_run + 2 * ns, "0000000000000003", "big"));
  const Outcome<SiteHistory> history = history_of_site(*ledger_, {});
  ASSERT_TRUE(history) << history.failure().message;
  ASSERT_EQ(history->runs.size(), 3u);
  EXPECT_EQ(history->hosts, (std::vector<SiteHost>{{"big", "a"}, {"big", "b"}, {"small", "a"}, {"small", "b"}}));
  EXPECT_EQ(history->runs[1].hosts, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(history->runs[2].hosts, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(history->runs[2].work, history->runs[0].work);
  EXPECT_NE(history->runs[1].work, history->runs[0].work);
  EXPECT_EQ(works_named(*history, "solve").size(), 2u);
  EXPECT_EQ(works_named(*history, "00000000000000a").size(), 2u);
  EXPECT_TRUE(works_named(*history, "solv").empty());
  EXPECT_NEAR(history->runs[0].day, 1700000000.0 / 86400.0, 1e-6);
  EXPECT_NEAR(history->runs[0].log_seconds, std::log(3240.0), 1e-9);
  EXPECT_NEAR(history->runs[0].log_error, std::log(3258.0 / 3204.0) / 3.29, 1e-5);
  EXPECT_NEAR(history->runs[0].lost_share, 0.1, 1e-9);
}

TEST_F(LedgerInAFile, RunsThatSayNothingOfASiteAreLeftOutOfItsHistoryAndCounted) {
  stored(on_cluster(first_run, "0000000000000001", ""));
  SpooledRun killed = on_cluster(first_run, "0000000000000002", "");
  killed.record.run.exit_state = "killed";
  SpooledRun unknown = on_cluster(first_run, "0000000000000003", "");
  unknown.record.run.undisturbed_seconds.reset();
  SpooledRun nameless = on_cluster(first_run, "0000000000000004", "");
  for (HostRow& host : nameless.record.hosts) host.host.clear();
  SpooledRun injected = on_cluster(first_run, "0000000000000005", "");
  injected.record.run.is_injected = 1;
  for (const SpooledRun& run : {killed, unknown, nameless, injected}) stored(run);
  const Outcome<SiteHistory> history = history_of_site(*ledger_, {});
  ASSERT_TRUE(history) << history.failure().message;
  EXPECT_EQ(history->runs.size(), 1u);
  EXPECT_EQ(history->left_out, 3u);
}

TEST_F(LedgerInAFile, PacesOfHostsAreTakenIfAllHaveOne) {
  SpooledRun all = on_cluster(first_run, "0000000000000001", "");
  all.record.hosts[0].log_pace = 0.1;
  all.record.hosts[1].log_pace = -0.1;
  SpooledRun some = on_cluster(first_run + ns, "0000000000000002", "");
  some.record.hosts[0].log_pace = 0.1;
  stored(all);
  stored(some);
  const Outcome<SiteHistory> history = history_of_site(*ledger_, {});
  ASSERT_TRUE(history) << history.failure().message;
  EXPECT_EQ(history->runs[0].log_host_seconds, (std::vector<double>{0.1, -0.1}));
  EXPECT_TRUE(history->runs[1].log_host_seconds.empty());
}

}  // namespace
