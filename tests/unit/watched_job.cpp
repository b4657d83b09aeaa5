#include "analyzer/watch/watched_job.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "analyzer/watch/condition.hpp"

namespace halcyon {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

/// A job whose ranks synchronise every 10 ms when nothing disturbs them.
struct SimulatedJob {
  live::JobNow now;
  std::mt19937_64 random{1};
  double usual = 0.01;

  explicit SimulatedJob(std::uint32_t ranks) {
    now.job = "42";
    now.host = "node7";
    now.command = "./app";
    now.ranks = ranks;
    now.start_monotonic = 100 * second;
    now.read_monotonic = now.start_monotonic;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      live::RankNow& here = now.here.emplace_back();
      here.rank = rank;
      here.is_alive = true;
      here.last_place = "allreduce@app+0x10";
      here.kinds.push_back({.key = 1, .usual_seconds = usual, .first_bin = live::bin_of(1e9 * usual) - 64});
    }
  }
  // Runs for so long; each segment takes `slower` times as long as usual. The first rank never waits, the others wait
  // for `waits` of the time.
  void run(double seconds, double slower = 1.0, double waits = 0.0) {
    std::normal_distribution<double> own(1.0, 0.01);
    for (double left = seconds; left > 0.0;) {
      const double took = usual * slower * own(random);
      left -= took;
      now.read_monotonic += static_cast<std::uint64_t>(1e9 * took);
      for (live::RankNow& rank : now.here) {
        live::KindNow& kind = rank.kinds.front();
        ++kind.segments;
        kind.seconds += took;
        ++kind.bins[live::bin_of(1e9 * took) - kind.first_bin];
        ++rank.totals.segments;
        rank.totals.seconds += took;
        rank.totals.usual_seconds += usual;
        rank.totals.last_end = now.read_monotonic;
        if (rank.rank > 0) rank.totals.parts[static_cast<std::size_t>(live::Part::boundary)] += waits * took;
      }
    }
  }
  void pass(double seconds) { now.read_monotonic += static_cast<std::uint64_t>(1e9 * seconds); }
};

const JobView& view_after(WatchedJob& watched, SimulatedJob& job, int seconds, double slower = 1.0) {
  for (int i = 0; i < seconds; ++i) {
    job.run(1.0, slower);
    watched.look(job.now, {});
  }
  return watched.view();
}

TEST(WatchedJob, ThatIsQuietRunsAtItsUsualRate) {
  SimulatedJob job(4);
  WatchedJob watched;
  watched.look(job.now, {});
  EXPECT_EQ(watched.view().state, JobState::starting);
  EXPECT_FALSE(watched.view().progress_rate);
  const JobView& view = view_after(watched, job, 60);
  EXPECT_EQ(view.state, JobState::running);
  EXPECT_NEAR(*view.progress_rate, 1.0, 0.03);
  EXPECT_LT(view.interference->percent, 3.0);
  EXPECT_FALSE(view.is_slower_than_usual);
  EXPECT_EQ(view.last_place, "allreduce@app+0x10");
  EXPECT_NEAR(view.elapsed_seconds, 60.0, 1.0);
  EXPECT_GT(view.history.size(), 50U);
}

TEST(WatchedJob, ThatIsSlowedDownIsSeenToBe) {
  SimulatedJob job(4);
  WatchedJob watched;
  view_after(watched, job, 60);
  const JobView& slow = view_after(watched, job, 60, 2.0);
  EXPECT_NEAR(*slow.progress_rate, 0.5, 0.03);
  EXPECT_TRUE(slow.is_slower_than_usual);
  EXPECT_GT(slow.interference->percent, 20.0);
  const JobView& again = view_after(watched, job, 60);
  EXPECT_NEAR(*again.progress_rate, 1.0, 0.05);
  EXPECT_FALSE(again.is_slower_than_usual);
}

TEST(WatchedJob, IsJudgedAtTheFirstLookIfItHasRunForLong) {
  SimulatedJob job(2);
  job.run(60.0);
  WatchedJob watched;
  watched.look(job.now, {});
  EXPECT_LT(watched.view().interference->percent, 3.0);
  EXPECT_FALSE(watched.view().progress_rate);
}

TEST(WatchedJob, StandsStillWhereNoBoundaryIsPassed) {
  SimulatedJob job(2);
  job.run(10.0);
  WatchedJob watched;
  watched.look(job.now, {});
  job.pass(4.0);
  watched.look(job.now, {});
  EXPECT_EQ(watched.view().state, JobState::running);
  job.pass(4.0);
  watched.look(job.now, {});
  EXPECT_EQ(watched.view().state, JobState::stands_still);
  EXPECT_NEAR(*watched.view().last_boundary_seconds_ago, 8.0, 0.01);
}

TEST(WatchedJob, StandsStillSoonIfARankIsStoppedOrDead) {
  SimulatedJob job(2);
  job.run(10.0);
  WatchedJob watched;
  watched.look(job.now, {});
  job.pass(1.5);
  watched.look(job.now, {1});
  EXPECT_EQ(watched.view().state, JobState::stands_still);
  EXPECT_EQ(watched.view().stopped_ranks, (std::vector<std::uint32_t>{1}));
  job.now.here[1].is_alive = false;
  watched.look(job.now, {});
  EXPECT_EQ(watched.view().state, JobState::stands_still);
  EXPECT_EQ(watched.view().dead_ranks, (std::vector<std::uint32_t>{1}));
}

TEST(WatchedJob, DoesNotTakeLongSegmentsForAStandstill) {
  SimulatedJob job(2);
  job.usual = 3.0;
  for (live::RankNow& rank : job.now.here) rank.kinds.front().first_bin = live::bin_of(3e9) - 64;
  job.run(30.0);
  WatchedJob watched;
  job.pass(12.0);
  watched.look(job.now, {});
  EXPECT_EQ(watched.view().state, JobState::running);
}

TEST(WatchedJob, EndsWithItsRanks) {
  SimulatedJob job(2);
  job.run(1.0);
  WatchedJob watched;
  for (live::RankNow& rank : job.now.here) rank.state = live::State::ended;
  watched.look(job.now, {});
  EXPECT_EQ(watched.view().state, JobState::ended);
}

TEST(WatchedJob, NamesTheRankForWhichTheOthersWait) {
  SimulatedJob job(4);
  job.run(10.0, 1.0, 0.3);
  WatchedJob watched;
  watched.look(job.now, {});
  EXPECT_EQ(watched.view().slowest_ranks, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(watched.view().slowest_hosts, (std::vector<std::string>{"node7"}));
  EXPECT_NEAR(watched.view().waiting_percent, 30.0, 0.1);
  for (int i = 0; i < 90; ++i) {  // a minute later it no longer does
    job.run(1.0);
    watched.look(job.now, {});
  }
  EXPECT_TRUE(watched.view().slowest_ranks.empty());
}

TEST(WatchedJob, LeavesOutSuspendedTime) {
  SimulatedJob job(2);
  job.run(30.0);
  WatchedJob watched;
  view_after(watched, job, 20);
  for (live::RankNow& rank : job.now.here) rank.totals.suspended_seconds += 5.0;
  job.pass(5.0);
  EXPECT_NEAR(*view_after(watched, job, 20).progress_rate, 1.0, 0.03);
  EXPECT_FALSE(watched.view().is_slower_than_usual);
}

// A record may have been written by anybody who can write as this user.
TEST(WatchedJob, ShowsPossibleFiguresWhateverTheRecordHolds) {
  std::mt19937_64 random(1);
  const auto any_number = [&random] {
    const std::uint64_t bits = random();
    return random() % 4 == 0 ? bits : bits >> (random() % 64);
  };
  const auto any_seconds = [&random] { return std::exp2(static_cast<double>(random() % 140) - 100.0); };
  for (int i = 0; i < 100; ++i) {
    SimulatedJob job(3);
    WatchedJob watched;
    for (int look = 0; look < 3; ++look) {
      job.run(2.0);
      for (int change = 0; change < 8; ++change) {
        live::RankNow& rank = job.now.here[random() % 3];
        live::KindNow& kind = rank.kinds.front();
        switch (random() % 12) {
          case 0: kind.first_bin = static_cast<std::uint32_t>(random() % live::bin_of(1e21)); break;
          case 1: kind.below = any_number(); break;
          case 2: kind.above = any_number(); break;
          case 3: kind.below_seconds = any_seconds(); break;
          case 4: kind.above_seconds = any_seconds(); break;
          case 5: kind.bins[random() % live::bin_count] = static_cast<std::uint32_t>(any_number()); break;
          case 6: kind.seconds = any_seconds(); break;
          case 7: kind.usual_seconds = any_seconds(); break;
          case 8: rank.totals.last_end = any_number(); break;
          case 9: rank.totals.usual_seconds = any_seconds(); break;
          case 10: rank.totals.seconds = any_seconds(); break;
          case 11: kind.segments = any_number(); break;
        }
      }
      watched.look(job.now, {});
      // A run of the simulation must find its place in the histogram again.
      for (live::RankNow& rank : job.now.here) rank.kinds.front().first_bin = live::bin_of(1e9 * job.usual) - 64;
      const JobView& view = watched.view();
      EXPECT_TRUE(!view.progress_rate || std::isfinite(*view.progress_rate));
      if (!view.interference) continue;
      EXPECT_GE(view.interference->interval_percent.low, 0.0);
      EXPECT_LE(view.interference->interval_percent.low, view.interference->percent);
      EXPECT_LE(view.interference->percent, view.interference->interval_percent.high);
      EXPECT_LE(view.interference->interval_percent.high, 100.0);
    }
  }
}

JobView view_with(double percent, double low, double high, double elapsed) {
  JobView view;
  view.elapsed_seconds = elapsed;
  view.interference = InterferenceSoFar{.percent = percent, .interval_percent = {low, high}};
  return view;
}

TEST(Condition, OnInterferenceHoldsIfTheWholeIntervalDoes) {
  const Condition condition{.watched = Watched::interference, .is_above = true, .limit = 30.0};
  EXPECT_TRUE(condition.holds(view_with(35.0, 31.0, 40.0, 0.0)));
  EXPECT_FALSE(condition.holds(view_with(35.0, 29.0, 40.0, 0.0)));
  EXPECT_FALSE(condition.holds(JobView{}));
}

TEST(Condition, MustHoldForItsTimeWithoutABreakAndIsToldOnce) {
  ConditionWatch watch({.limit = 30.0, .for_seconds = 60.0});
  EXPECT_FALSE(watch.look(view_with(35.0, 31.0, 40.0, 0.0)));
  EXPECT_FALSE(watch.look(view_with(29.0, 25.0, 33.0, 50.0)));
  EXPECT_FALSE(watch.look(view_with(35.0, 31.0, 40.0, 70.0)));
  EXPECT_FALSE(watch.look(view_with(35.0, 31.0, 40.0, 129.0)));
  EXPECT_TRUE(watch.look(view_with(35.0, 31.0, 40.0, 130.0)));
  EXPECT_FALSE(watch.look(view_with(35.0, 31.0, 40.0, 131.0)));
}

TEST(Condition, OnRateAndStandstillComparesWhatIsKnown) {
  JobView view;
  const Condition slow{.watched = Watched::rate, .is_above = false, .limit = 50.0};
  const Condition still{.watched = Watched::standstill, .is_above = true, .limit = 10.0};
  EXPECT_FALSE(slow.holds(view));
  EXPECT_FALSE(still.holds(view));
  view.progress_rate = 0.4;
  view.last_boundary_seconds_ago = 11.0;
  EXPECT_TRUE(slow.holds(view));
  EXPECT_TRUE(still.holds(view));
  EXPECT_EQ(text_of(still), "standstill > 10 s");
}

}  // namespace
}  // namespace halcyon
