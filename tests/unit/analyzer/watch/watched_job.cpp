#include "analyzer/watch/watched_job.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "analyzer/watch/condition.hpp"
#include "tests/truth/running_job.hpp"

namespace halcyon {
namespace {

using truth::RunningJob;

const JobView& view_after(WatchedJob& watched, RunningJob& job, int seconds, double slower = 1.0) {
  for (int i = 0; i < seconds; ++i) {
    job.run(1.0, slower);
    watched.look(job.now);
  }
  return watched.view();
}

TEST(WatchedJob, ThatIsQuietRunsAtItsUsualRate) {
  RunningJob job(4);
  WatchedJob watched;
  watched.look(job.now);
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

TEST(WatchedJob, HasAsMuchLeftAsEarlierRunsTook) {
  RunningJob job(4);
  WatchedJob unknown;
  EXPECT_FALSE(view_after(unknown, job, 10).left_seconds);
  const std::uint64_t done = job.now.here.front().totals.segments;
  const KnownParts known{.segments = 4 * done, .runs = 3, .parts = std::vector<KnownPart>(100, {0.4, 0.4})};
  WatchedJob watched(known);
  watched.look(job.now);
  EXPECT_NEAR(*watched.view().left_seconds, 30.0, 0.1);
  EXPECT_EQ(watched.view().known_runs, 3u);
}

TEST(WatchedJob, ThatIsSlowedDownIsSeenToBe) {
  RunningJob job(4);
  WatchedJob watched;
  view_after(watched, job, 60);
  const JobView& slow = view_after(watched, job, 120, 2.0);
  EXPECT_NEAR(*slow.progress_rate, 0.5, 0.03);
  EXPECT_TRUE(slow.is_slower_than_usual);
  EXPECT_GT(slow.interference->percent, 20.0);
  const JobView& again = view_after(watched, job, 60);
  EXPECT_NEAR(*again.progress_rate, 1.0, 0.05);
  EXPECT_FALSE(again.is_slower_than_usual);
}

TEST(WatchedJob, IsJudgedAtTheFirstLookIfItHasRunForLong) {
  RunningJob job(2);
  job.run(60.0);
  WatchedJob watched;
  watched.look(job.now);
  EXPECT_LT(watched.view().interference->percent, 3.0);
  EXPECT_FALSE(watched.view().progress_rate);
}

TEST(WatchedJob, StandsStillWhereNoBoundaryIsPassed) {
  RunningJob job(2);
  job.run(10.0);
  WatchedJob watched;
  watched.look(job.now);
  job.pass(4.0);
  watched.look(job.now);
  EXPECT_EQ(watched.view().state, JobState::running);
  job.pass(4.0);
  watched.look(job.now);
  EXPECT_EQ(watched.view().state, JobState::stands_still);
  EXPECT_NEAR(*watched.view().last_boundary_seconds_ago, 8.0, 0.01);
}

TEST(WatchedJob, StandsStillSoonIfARankIsStoppedOrDead) {
  RunningJob job(2);
  job.run(10.0);
  WatchedJob watched;
  watched.look(job.now);
  job.pass(1.5);
  job.now.here[1].is_stopped = true;
  watched.look(job.now);
  EXPECT_EQ(watched.view().state, JobState::stands_still);
  EXPECT_EQ(watched.view().stopped_ranks, (std::vector<std::uint32_t>{1}));
  job.now.here[1].is_stopped = false;
  job.now.here[1].is_alive = false;
  watched.look(job.now);
  EXPECT_EQ(watched.view().state, JobState::stands_still);
  EXPECT_EQ(watched.view().dead_ranks, (std::vector<std::uint32_t>{1}));
}

TEST(WatchedJob, DoesNotTakeLongSegmentsForAStandstill) {
  RunningJob job(2, 3.0);
  job.run(30.0);
  WatchedJob watched;
  job.pass(12.0);
  watched.look(job.now);
  EXPECT_EQ(watched.view().state, JobState::running);
}

TEST(WatchedJob, EndsWithItsRanks) {
  RunningJob job(2);
  job.run(1.0);
  WatchedJob watched;
  for (live::RankNow& rank : job.now.here) rank.state = live::State::ended;
  watched.look(job.now);
  EXPECT_EQ(watched.view().state, JobState::ended);
}

TEST(WatchedJob, NamesTheRankForWhichTheOthersWait) {
  RunningJob job(4);
  job.run(10.0, 1.0, 0.3);
  WatchedJob watched;
  watched.look(job.now);
  EXPECT_EQ(watched.view().slowest_ranks, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(watched.view().slowest_hosts, (std::vector<std::string>{"node7"}));
  EXPECT_NEAR(watched.view().waiting_percent, 30.0, 0.1);
  EXPECT_NEAR(watched.view().slowest->time, 1.0 / 0.7, 0.01);
  EXPECT_NEAR(watched.view().slowest->work, 1.0, 1e-9);  // all computed as much
  for (int i = 0; i < 90; ++i) {                         // a minute later it no longer does
    job.run(1.0);
    watched.look(job.now);
  }
  EXPECT_TRUE(watched.view().slowest_ranks.empty());
}

TEST(WatchedJob, NamesTheRankThatCameLastIfAllTellOfTheSameBoundary) {
  RunningJob job(3);
  job.run(1.0);
  job.now.here[0].totals.last_wait = 0.2;
  job.now.here[2].totals.last_wait = 0.3;
  WatchedJob watched;
  watched.look(job.now);
  EXPECT_EQ(watched.view().last_rank, 1U);
  ++job.now.here[2].totals.segments;
  watched.look(job.now);
  EXPECT_FALSE(watched.view().last_rank);
  job.now.here.pop_back();
  watched.look(job.now);
  EXPECT_FALSE(watched.view().last_rank);
}

TEST(WatchedJob, LeavesOutSuspendedTime) {
  RunningJob job(2);
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
  int judged = 0;
  for (unsigned i = 0; i < 6; ++i) {  // tests/fuzz tries many more
    RunningJob job(3);
    WatchedJob watched;
    for (unsigned look = 0; look < 3; ++look) {
      job.run(2.0);
      for (unsigned change = 0; change < 8; ++change) {
        live::RankNow& rank = job.now.here[random() % 3];
        live::KindNow& kind = rank.kinds.front();
        switch ((i + change) % 12) {
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
      watched.look(job.now);
      // A run of the simulation must find its place in the histogram again.
      for (live::RankNow& rank : job.now.here) rank.kinds.front().first_bin = job.first_bin();
      const JobView& view = watched.view();
      EXPECT_TRUE(!view.progress_rate || std::isfinite(*view.progress_rate));
      if (!view.interference) continue;
      ++judged;
      EXPECT_GE(view.interference->interval_percent.low, 0.0);
      EXPECT_LE(view.interference->interval_percent.low, view.interference->percent);
      EXPECT_LE(view.interference->percent, view.interference->interval_percent.high);
      EXPECT_LE(view.interference->interval_percent.high, 100.0);
    }
  }
  EXPECT_GT(judged, 0);
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
