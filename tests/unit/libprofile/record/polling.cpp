#include "libprofile/record/polling.hpp"

#include <gtest/gtest.h>

namespace {

using halcyon::Polling;
using halcyon::Ticks;

// Each takes `took`. Returns how many were timed.
int poll(Polling& polling, int polls, std::uint64_t took, std::uint64_t events = 0) {
  int timed = 0;
  for (int i = 0; i < polls; ++i) {
    if (polling.is_timed()) {
      polling.timed(Ticks{took}, events);
      ++timed;
    }
    polling.found_nothing();
  }
  return timed;
}

TEST(Polling, FewPollsAreTimedAndAllCount) {
  Polling polling;
  EXPECT_LT(poll(polling, 10'000, 100, 7), 200);
  const Polling::Sums sums = polling.settle();
  EXPECT_DOUBLE_EQ(sums.time, 10'000 * 100.0);
  EXPECT_DOUBLE_EQ(sums.events, 10'000 * 7.0);
}

TEST(Polling, EachPollCountsOnce) {
  Polling polling;
  double sum = 0.0;
  for (const int polls : {1, 5, 60, 61, 62, 200}) {
    poll(polling, polls, 10);
    sum += polling.settle().time;
    EXPECT_FALSE(polling.is_unsettled());
  }
  EXPECT_DOUBLE_EQ(sum, 10.0 * (1 + 5 + 60 + 61 + 62 + 200));
}

TEST(Polling, ADelayThatHitsATimedPollIsNotMultiplied) {
  Polling polling;
  poll(polling, 10'000, 100);
  polling.settle();
  while (!polling.is_timed()) polling.found_nothing();
  polling.timed(Ticks{10'000'000}, 0);
  polling.found_nothing();
  poll(polling, 10'000, 100);
  EXPECT_NEAR(polling.settle().time, 10'000 * 100.0, 0.05 * 10'000 * 100.0);
}

TEST(Polling, ADelayOfTheFirstPollIsForgotten) {
  Polling polling;
  polling.timed(Ticks{10'000'000}, 0);
  polling.found_nothing();
  poll(polling, 61, 100);
  polling.settle();
  poll(polling, 1000, 100);
  EXPECT_DOUBLE_EQ(polling.settle().time, 1000 * 100.0);
}

}  // namespace
