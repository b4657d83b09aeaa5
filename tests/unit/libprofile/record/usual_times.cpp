#include "libprofile/record/usual_times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

namespace {

using namespace halcyon;

constexpr Ticks noticeable{1000};
const char places[1000] = {};  // of a program

// Calls of one thread, in ticks of a nanosecond.
class Calls {
 public:
  std::uint64_t beyond(std::uint64_t took, std::size_t place = 0, std::uint64_t bytes = 0) {
    return times_->beyond(places + place, bytes, {took}, noticeable).count;
  }
  void segment_begins() { times_->segment_begins(); }

 private:
  std::unique_ptr<UsualTimes> times_ = std::make_unique<UsualTimes>();
};

TEST(UsualTimes, TellsADelayFromTheUsual) {
  Calls calls;
  for (int i = 0; i < 100; ++i) {
    calls.segment_begins();
    EXPECT_EQ(calls.beyond(5000), 0u);
  }
  calls.segment_begins();
  EXPECT_NEAR(static_cast<double>(calls.beyond(105'000)), 100'000.0, 1000.0);
}

TEST(UsualTimes, TakesLessThanAsMuchAgainForJitter) {
  Calls calls;
  for (int i = 0; i < 100; ++i) {
    calls.segment_begins();
    EXPECT_EQ(calls.beyond(i % 2 == 0 ? 5000 : 9500), 0u);
  }
}

TEST(UsualTimes, FindsAllDelaysWhereMostCallsAreDelayed) {
  Calls calls;
  std::mt19937 engine(3);
  std::bernoulli_distribution is_delayed(0.8);
  double delayed = 0.0;
  double found = 0.0;
  for (int i = 0; i < 5000; ++i) {
    const bool late = is_delayed(engine);
    calls.segment_begins();
    const auto beyond = static_cast<double>(calls.beyond(late ? 80'000 : 2000));
    if (i < 100) continue;  // still learning
    delayed += late ? 78'000.0 : 0.0;
    found += beyond;
  }
  EXPECT_NEAR(found / delayed, 1.0, 0.03);
}

TEST(UsualTimes, FollowsWorkThatGrows) {
  Calls calls;
  for (int i = 0; i < 20'000; ++i) {
    calls.segment_begins();
    EXPECT_EQ(calls.beyond(static_cast<std::uint64_t>(5000.0 * std::exp(i / 5000.0))), 0u);
  }
}

TEST(UsualTimes, KnowsWhatLargeMessagesTake) {
  Calls calls;
  for (int i = 0; i < 100; ++i) {
    calls.segment_begins();
    EXPECT_EQ(calls.beyond(2000, 0, 100), 0u);
    calls.segment_begins();
    EXPECT_EQ(calls.beyond(200'000, 0, 1'000'000), 0u);
  }
}

TEST(UsualTimes, KnowsWhichOfSeveralCallsOfOnePlaceTakesLong) {
  Calls calls;
  for (int i = 0; i < 100; ++i) {
    calls.segment_begins();
    EXPECT_EQ(calls.beyond(2000), 0u);
    EXPECT_EQ(calls.beyond(200'000), 0u);
  }
}

TEST(UsualTimes, StaysSilentOnKindsItHasNoPlaceFor) {
  Calls calls;
  std::uint64_t beyond = 0;
  for (int i = 0; i < 40; ++i) {
    for (std::size_t place = 0; place < sizeof places; ++place) {
      for (std::uint64_t bytes = 1; bytes < 1u << 20; bytes *= 2) {
        calls.segment_begins();
        beyond += calls.beyond(place * 10'000, place, bytes);
      }
    }
  }
  EXPECT_EQ(beyond, 0u);
}

}  // namespace
