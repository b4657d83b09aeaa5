#include "analyzer/machine/background.hpp"

#include <gtest/gtest.h>

#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

// Losses 2 and 4 % before, 6 and 8 % after.
TEST(Background, IsTheMeanLossOverRanksBeforeAndAfter) {
  Profile profile = uniform_profile(100, 1.0);
  profile.background_before = {{49e-6, 48e-6}, {50e-6, 50e-6}};
  profile.background_after = {{47e-6, 46e-6}, {50e-6, 50e-6}};
  const std::optional<Background> background = background_of(profile);
  ASSERT_TRUE(background);
  EXPECT_NEAR(background->before_percent, 3.0, 1e-9);
  EXPECT_NEAR(background->after_percent, 7.0, 1e-9);
  EXPECT_NEAR(background->percent(), 5.0, 1e-9);
  EXPECT_NEAR(background->quantum_seconds, 47.5e-6, 1e-15);
}

TEST(Background, IsNoneWhereNothingWasMeasured) {
  Profile profile = uniform_profile(100, 1.0);
  EXPECT_FALSE(background_of(profile));
  profile.background_before = profile.background_after = {{0.0, 0.0}, {0.0, 0.0}};
  EXPECT_FALSE(background_of(profile));
}

TEST(Background, LeavesOutRanksThatDidNotMeasure) {
  Profile profile = uniform_profile(100, 1.0);
  profile.background_before = profile.background_after = {{0.0, 48e-6}, {0.0, 50e-6}};
  ASSERT_TRUE(background_of(profile));
  EXPECT_NEAR(background_of(profile)->percent(), 4.0, 1e-9);
}

}  // namespace
