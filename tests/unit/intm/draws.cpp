#include "intm/draws.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon;

TEST(Draws, DependOnSeedRankStreamAndEventOnly) {
  const DrawKey key{1, 2, 3};
  EXPECT_EQ(uniform(key, 10, 0), uniform(key, 10, 0));
  EXPECT_NE(uniform(key, 10, 0), uniform(key, 11, 0));
  EXPECT_NE(uniform(key, 10, 0), uniform(key, 10, 1));
  EXPECT_NE(uniform(key, 10, 0), uniform({2, 2, 3}, 10, 0));
  EXPECT_NE(uniform(key, 10, 0), uniform({1, 3, 3}, 10, 0));
  EXPECT_NE(uniform(key, 10, 0), uniform({1, 2, 4}, 10, 0));
}

// Half a million draws: the standard errors of mean and deviation are 0.0014 and 0.001 deviations; five of them are
// allowed.
TEST(Draws, OfDelaysHaveTheMeanAndDeviationAskedFor) {
  constexpr int count = 500'000;
  double sum = 0.0;
  double squares = 0.0;
  for (int event = 0; event < count; ++event) {
    const double delay = normal_delay({42, 0, 0}, static_cast<std::uint64_t>(event), 100.0, 10.0);
    sum += delay;
    squares += (delay - 100.0) * (delay - 100.0);
  }
  EXPECT_NEAR(sum / count, 100.0, 0.07);
  EXPECT_NEAR(std::sqrt(squares / count), 10.0, 0.05);
}

TEST(Draws, AreUniform) {
  constexpr int count = 400'000;
  int below[10] = {};
  for (int event = 0; event < count; ++event)
    ++below[static_cast<int>(10.0 * uniform({7, 1, 0}, static_cast<std::uint64_t>(event), 0))];
  for (const int share : below) EXPECT_NEAR(share, count / 10, 5 * 190);  // five standard errors
}

TEST(Draws, NeverGiveANegativeDelay) {
  for (std::uint64_t event = 0; event < 10'000; ++event) ASSERT_GE(normal_delay({1, 0, 0}, event, 1.0, 100.0), 0.0);
}

}  // namespace
