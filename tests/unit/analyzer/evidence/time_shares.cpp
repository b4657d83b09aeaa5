// What ranks did with their time, from the sums of a profile.
#include "analyzer/evidence/time_shares.hpp"

#include <gtest/gtest.h>

#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using halcyon::testing::uniform_profile;

TEST(TimeShares, AddUpAndLeaveTheRestToSleep) {
  Profile profile = uniform_profile(8, 1.0);  // 8 s on two ranks
  profile.rank_run_time = {8.0, 8.0};
  profile.sections.place.assign(RankSections::eighths, "");
  const std::size_t sums = 2 * RankSections::eighths;
  profile.sections.computing.assign(sums, 0.5F);
  profile.sections.work.assign(sums, 1.0F);
  profile.sections.waiting.assign(sums, 0.25F);
  profile.sections.file_io.assign(sums, 0.125F);
  profile.sections.device.assign(sums, 0.0625F);
  const std::optional<TimeShares> shares = time_shares(profile);
  ASSERT_TRUE(shares);
  EXPECT_DOUBLE_EQ(shares->computing, 0.5);
  EXPECT_DOUBLE_EQ(shares->in_mpi, 0.25);
  EXPECT_DOUBLE_EQ(shares->in_files, 0.125);
  EXPECT_DOUBLE_EQ(shares->on_devices, 0.0625);
  EXPECT_DOUBLE_EQ(shares->asleep, 0.0625);
  EXPECT_DOUBLE_EQ(shares->file_seconds, 2.0);
  EXPECT_DOUBLE_EQ(shares->asleep_seconds, 1.0);
  profile.sections.place.clear();
  EXPECT_FALSE(time_shares(profile));
}

}  // namespace
