#include "analyzer/attribution/efficiency.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "analyzer/evidence/time_shares.hpp"
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
  EXPECT_FALSE(efficiency->transfer);  // as of an older profile
}

TEST(Efficiency, OfCommunicationIsTheProductOfSerialisationAndTransfer) {
  Profile profile = run_of_three_ranks();
  profile.least_mpi_time.assign(100, 0.005F);  // 0.5 s, of the 2 that each rank spends in MPI at least
  const std::optional<Efficiency> efficiency = efficiency_of(profile);
  ASSERT_TRUE(efficiency);
  ASSERT_TRUE(efficiency->transfer);
  EXPECT_NEAR(*efficiency->transfer, 9.5 / 10.0, 1e-6);
  EXPECT_NEAR(*efficiency->serialisation * *efficiency->transfer, efficiency->communication, 1e-12);
}

TEST(ThreadEfficiency, IsTheShareOfTheTimeOfAllThreadsThatWasWork) {
  Profile profile = run_of_three_ranks();
  const auto set = [&profile](Evidence evidence, double of_each) {
    profile.evidence[index_of(evidence)].assign(3, of_each);
  };
  EXPECT_FALSE(thread_efficiency_of(profile));  // of an older profile
  // Of 18 s outside MPI, 6 s are in regions of two threads: one works in all of this time, and the other in half.
  set(Evidence::region_time, 2.0);
  set(Evidence::region_thread_time, 4.0);
  set(Evidence::region_work, 3.0);
  set(Evidence::region_longest_work, 4.0);
  const std::optional<ThreadEfficiency> efficiency = thread_efficiency_of(profile);
  ASSERT_TRUE(efficiency);
  EXPECT_NEAR(efficiency->threads, 2.0, 1e-12);
  EXPECT_NEAR(efficiency->load_balance, 0.75, 1e-12);
  EXPECT_NEAR(efficiency->parallel, (12.0 + 9.0) / 36.0, 1e-12);
  set(Evidence::side_by_side, 1.0);  // in regions that are not measured
  EXPECT_FALSE(thread_efficiency_of(profile));
}

TEST(TimeShares, AddUpToTheTimeOfTheRanksThatAreKnown) {
  Profile profile = run_of_three_ranks();
  EXPECT_FALSE(time_shares(profile));
  RankSections& sections = profile.sections;
  sections.place.assign(RankSections::eighths, "");
  const auto fill = [](std::vector<float>& column, float seconds) {  // in each eighth; the last rank left nothing
    column.assign(2 * RankSections::eighths, seconds);
    column.resize(3 * RankSections::eighths, std::numeric_limits<float>::quiet_NaN());
  };
  fill(sections.computing, 0.5F);  // 4 of 10 s
  fill(sections.work, 1e9F);
  fill(sections.waiting, 0.25F);
  fill(sections.file_io, 0.125F);
  fill(sections.device, 0.0625F);
  const std::optional<TimeShares> shares = time_shares(profile);
  ASSERT_TRUE(shares);
  EXPECT_NEAR(shares->computing, 0.4, 1e-6);
  EXPECT_NEAR(shares->in_mpi, 0.2, 1e-6);
  EXPECT_NEAR(shares->in_files, 0.1, 1e-6);
  EXPECT_NEAR(shares->on_devices, 0.05, 1e-6);
  EXPECT_NEAR(shares->asleep, 0.25, 1e-6);
  EXPECT_NEAR(shares->file_seconds, 2.0, 1e-6);
}

TEST(Efficiency, IsNotKnownWithoutTheTimesOfAllRanks) {
  Profile profile = run_of_three_ranks();
  profile.evidence[index_of(Evidence::mpi_time)][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(efficiency_of(profile));
  profile.evidence[index_of(Evidence::mpi_time)].clear();  // an older profile
  EXPECT_FALSE(efficiency_of(profile));
}

}  // namespace
