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

// Two ranks on one host of two cores, with so many busy threads each.
Profile with_threads(double of_first, double of_second) {
  Profile profile = that_waited({0.0, 0.0});
  profile.evidence[index_of(Evidence::cpus)] = {2.0, 2.0};
  profile.evidence[index_of(Evidence::own_cpus)] = {2.0, 2.0};
  profile.evidence[index_of(Evidence::busy_threads)] = {of_first, of_second};
  return profile;
}

TEST(CrowdedCores, AreThoseOfAHostWithMoreBusyThreads) {
  EXPECT_FALSE(crowded_cores(with_threads(1.0, 1.0)));
  EXPECT_FALSE(has_more_threads_than_cores(with_threads(1.4, 1.0)));  // half a thread may have slept
  const Profile profile = with_threads(2.0, 2.0);
  const std::optional<CrowdedCores> crowded = crowded_cores(profile);
  ASSERT_TRUE(crowded);
  EXPECT_FALSE(crowded->bound_rank);
  EXPECT_EQ(crowded->ranks, 2U);
  EXPECT_EQ(crowded->threads, 4.0);
  EXPECT_EQ(crowded->cores, 2.0);
  EXPECT_EQ(crowded->host, "host");
  EXPECT_EQ(in_words(*crowded, profile), "2 ranks with 2.0 busy threads each ran on 2 cores");
}

TEST(CrowdedCores, AreThoseToWhichARankIsBound) {
  Profile profile = with_threads(1.0, 3.0);
  profile.evidence[index_of(Evidence::cpus)] = {8.0, 8.0};
  const std::optional<CrowdedCores> crowded = crowded_cores(profile);
  ASSERT_TRUE(crowded);
  EXPECT_EQ(crowded->bound_rank, std::optional<std::size_t>(1));
  EXPECT_EQ(in_words(*crowded, profile), "rank 1 with 3.0 busy threads was bound to 2 cores");
}

TEST(CpuWaits, OfAllRanksAtTheSameTimeAreAtLeastWhatOverlaps) {
  EXPECT_NEAR(all_waited_for_cpu(that_waited({7.0, 6.0})), 3.0,
              1e-9);  // both cannot have gone on for more than 3 + 4 s
  EXPECT_EQ(all_waited_for_cpu(that_waited({4.0, 6.0})), 0.0);
  EXPECT_EQ(all_waited_for_cpu(that_waited({7.0, std::numeric_limits<double>::quiet_NaN()})), 0.0);
  Profile with_children = that_waited({7.0, 6.0});
  with_children.evidence[index_of(Evidence::children_cpu)] = {2.0, 0.0};
  EXPECT_NEAR(all_waited_for_cpu(with_children), 1.0, 1e-9);  // they may have had the cores
}

}  // namespace
}  // namespace halcyon
