#include "analyzer/judge/efficiency.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

// 10 s, of which 8, 4 and 6 s are useful.
Profile run_of_three_ranks() {
  Profile profile = uniform_profile(100, 0.1, 3);
  profile.rank_run_time = {10.0, 10.0, 10.0};
  profile.evidence[index_of(Evidence::mpi_time)] = {2.0, 6.0, 4.0};
  return profile;
}

TEST(Efficiency, IsTheProductOfBalanceAndCommunication) {
  const std::optional<Efficiency> efficiency = efficiency_of(run_of_three_ranks());
  ASSERT_TRUE(efficiency);
  EXPECT_NEAR(efficiency->load_balance, 6.0 / 8.0, 1e-12);
  EXPECT_NEAR(efficiency->communication, 8.0 / 10.0, 1e-12);
  EXPECT_NEAR(efficiency->parallel(), 0.6, 1e-12);
  EXPECT_EQ(efficiency->busiest, 0u);
}

TEST(Efficiency, IsNotKnownWithoutTheTimesOfAllRanks) {
  Profile profile = run_of_three_ranks();
  profile.evidence[index_of(Evidence::mpi_time)][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(efficiency_of(profile));
  profile.evidence[index_of(Evidence::mpi_time)].clear();  // an older profile
  EXPECT_FALSE(efficiency_of(profile));
}

}  // namespace
