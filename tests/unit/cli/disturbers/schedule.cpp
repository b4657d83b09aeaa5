#include "cli/disturbers/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/disturbers/disturber.hpp"

namespace {

using namespace halcyon::cli;

// Time passes only where somebody sleeps or works.
struct FakeClock {
  double seconds = 0.0;

  double now() const { return seconds; }
  void sleep_until(double until) { seconds = std::max(seconds, until); }
};

struct Done {
  std::vector<double> stretches;  // when each began
  int pieces = 0;
};

constexpr double end_of_test = 20.0;

// Follows a schedule for fake 20 s, in pieces of so many seconds.
Done followed(const char* schedule, double piece = 0.125) {
  FakeClock clock;
  Done done;
  follow(
      Stretches(*parse_schedule(schedule), end_of_test, 1), clock,
      [&] {
        if (clock.now() < end_of_test) done.stretches.push_back(clock.now());
      },
      [&] {
        if (clock.now() >= end_of_test) return false;
        clock.seconds += piece;
        ++done.pieces;
        return true;
      });
  return done;
}

TEST(Schedule, ThroughoutIsOneStretchWithoutEnd) {
  const Done done = followed("throughout");
  EXPECT_EQ(done.stretches, std::vector{0.0});
  EXPECT_EQ(done.pieces, 160);
}

TEST(Schedule, APartIsInTimesOrSharesOfTheRun) {
  const Done times = followed("part:2s..5s");
  EXPECT_EQ(times.stretches, std::vector{2.0});
  EXPECT_EQ(times.pieces, 24);
  const Done shares = followed("part:25%..75%");
  EXPECT_EQ(shares.stretches, std::vector{5.0});
  EXPECT_EQ(shares.pieces, 80);
}

TEST(Schedule, PeriodsBeginWithWork) {
  const Done done = followed("periodic:1s,3s");
  EXPECT_EQ(done.stretches, (std::vector{0.0, 4.0, 8.0, 12.0, 16.0}));
  EXPECT_EQ(done.pieces, 40);
}

TEST(Schedule, WhoWorksLongerThanAStretchDoesNotCatchUp) {
  const Done done = followed("periodic:1s,1s", 3.0);  // what a stretch began goes on for 3 s
  EXPECT_EQ(done.stretches, (std::vector{0.0, 4.0, 8.0, 12.0, 16.0}));
  EXPECT_EQ(done.pieces, 5);
}

TEST(Schedule, BurstsComeByChanceWithTheirMeans) {
  Stretches stretches(*parse_schedule("bursts:200ms,600ms"), 0.0, 7);
  double work = 0.0;
  double end = 0.0;
  double squares = 0.0;
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i) {
    const Stretch stretch = *stretches.next();
    ASSERT_GE(stretch.from, end);
    ASSERT_GE(stretch.to, stretch.from);
    const double length = stretch.to - stretch.from;
    work += length / count;
    squares += length * length / count;
    end = stretch.to;
  }
  EXPECT_NEAR(work, 0.2, 0.01);
  EXPECT_NEAR(end / count, 0.8, 0.02);
  EXPECT_NEAR(std::sqrt(squares - work * work), 0.2, 0.02);  // an exponential law's is its mean
}

TEST(Schedule, TheSameSeedGivesTheSameBursts) {
  const auto first = [](std::uint64_t seed) { return Stretches(*parse_schedule("bursts"), 0.0, seed).next()->from; };
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

TEST(Schedule, IsToldInWordsThatCanBeRead) {
  for (const char* text : {"throughout", "part:25%..75%", "part:2s..5.5s", "periodic:1s,1s", "periodic:150ms,350ms",
                           "bursts:200ms,600ms"}) {
    EXPECT_EQ(text_of(*parse_schedule(text)), text);
  }
  EXPECT_EQ(text_of(*parse_schedule("part")), "part:25%..75%");
  EXPECT_EQ(text_of(*parse_schedule("periodic")), "periodic:1s,1s");
  EXPECT_EQ(text_of(*parse_schedule("bursts")), "bursts:200ms,600ms");
}

TEST(Schedule, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "sometimes", "throughout:1s", "part:", "part:5s..2s", "part:2s", "part:2s..50%", "part:10%..101%",
        "part:nan%..50%", "periodic:1s", "periodic:0s,1s", "periodic:1s,1s,1s", "periodic:-1s,1s", "bursts:1,1"}) {
    EXPECT_FALSE(parse_schedule(text)) << text;
  }
}

TEST(Disturber, IsAKindAndASchedule) {
  EXPECT_EQ(text_of(*parse_disturber("cpu")), "cpu:throughout");
  EXPECT_EQ(text_of(*parse_disturber("network:periodic")), "network:periodic:1s,1s");
  for (const char* text : {"", "gpu", "cpu:", "memory:never", "cpu,disk"}) EXPECT_FALSE(parse_disturber(text)) << text;
}

}  // namespace
