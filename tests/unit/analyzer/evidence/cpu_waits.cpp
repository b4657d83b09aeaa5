#include "analyzer/evidence/cpu_waits.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace halcyon {
namespace {

Profile that_waited(const std::vector<double>& seconds) {
  Profile profile;
  profile.ranks = static_cast<int>(seconds.size());
  profile.run_time_seconds = 10.0;
  profile.rank_host.assign(seconds.size(), "host");
  profile.rank_run_time.assign(seconds.size(), 10.0);
  for (auto& counts : profile.evidence) counts.assign(seconds.size(), std::numeric_limits<double>::quiet_NaN());
  profile.evidence[index_of(Evidence::cpu_wait)] = seconds;
  return profile;
}

TEST(CpuWaits, OfRanksThatWaitForEachOtherStopThemAsIfTheyCameIndependently) {
  EXPECT_NEAR(stood_still_at_most(that_waited({5.0, 6.0}), 0.075), 10.0 * (1.0 - 0.5 * 0.4), 1e-9);
  EXPECT_NEAR(stood_still_at_most(that_waited({5.0, 0.7}), 0.075), 5.0, 1e-9);  // what is rare shows in durations
  EXPECT_NEAR(stood_still_at_most(that_waited(std::vector<double>(512, 0.01)), 0.075), 0.0, 1e-9);
  EXPECT_NEAR(stood_still_at_most(that_waited({12.0, 3.0}), 0.075), 10.0, 1e-9);
}

TEST(CpuWaits, ThatTheKernelDoesNotTellStopNobody) {
  EXPECT_EQ(stood_still_at_most(that_waited({std::numeric_limits<double>::quiet_NaN()}), 0.075), 0.0);
}

}  // namespace
}  // namespace halcyon
