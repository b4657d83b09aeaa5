#include "analyzer/groups/grouping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "analyzer/groups/clusters.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

std::vector<std::vector<std::uint32_t>> members_of(const Grouping& grouping) {
  std::vector<std::vector<std::uint32_t>> members;
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    members.emplace_back(grouping.members(group).begin(), grouping.members(group).end());
  }
  return members;
}

TEST(Clusters, StartWhereTheRelativeDistanceReachesATenth) {
  // 100 -> 109: 0.09; 109 -> 119: 0.0917; 119 -> 131: 0.1008
  EXPECT_EQ(cluster_ascending({100, 109, 119, 131}, 0.1), (std::vector<std::uint32_t>{0, 0, 0, 1}));
  EXPECT_EQ(cluster_ascending({10, 11}, 0.1), (std::vector<std::uint32_t>{0, 1}));
}

TEST(Clusters, TellNothingFromSomething) {
  EXPECT_EQ(cluster_ascending({0, 0, 1e-6}, 0.1), (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(Groups, SplitAClusterByCountsExactly) {
  Profile profile = uniform_profile(6, 1.0);
  column(profile, Feature::sends_blocking) = {{100.0, 101.0}, {0, 1, 0, 1, 0, 1}};
  const Grouping grouping = group_segments(profile);
  EXPECT_EQ(grouping.clusters, 1u);
  EXPECT_EQ(members_of(grouping), (std::vector<std::vector<std::uint32_t>>{{0, 2, 4}, {1, 3, 5}}));
}

TEST(Groups, KeepCountsOfOtherRanksApartThoughTheirSumAgrees) {
  Profile profile = uniform_profile(4, 1.0);
  column(profile, Feature::sends_blocking) = {{100.0, 100.0}, {0, 1, 1, 0}};
  EXPECT_EQ(group_segments(profile).groups.count, 2u);
}

TEST(Groups, JoinVolumesThatDriftWithinRelativeDistance) {
  Profile profile = uniform_profile(4, 1.0);
  column(profile, Feature::bytes_sent) = {{1000.0, 1050.0, 1100.0, 5000.0}, {2, 0, 1, 3}};
  EXPECT_EQ(members_of(group_segments(profile)), (std::vector<std::vector<std::uint32_t>>{{0, 1, 2}, {3}}));
}

TEST(Groups, DoNotJoinVolumesThroughThoseOfOtherWork) {
  Profile profile = uniform_profile(4, 1.0);
  column(profile, Feature::bytes_sent) = {{1000.0, 1050.0, 1120.0}, {0, 1, 2, 0}};
  column(profile, Feature::writes) = {{0.0, 1.0}, {0, 1, 0, 0}};  // the one in between writes a file
  EXPECT_EQ(members_of(group_segments(profile)), (std::vector<std::vector<std::uint32_t>>{{0, 3}, {2}, {1}}));
}

TEST(Groups, TellProgramPhasesApartByCallSite) {
  Profile profile = uniform_profile(4, 1.0);
  profile.sites = {"allreduce@app+0x10", "barrier@app+0x20"};
  profile.site = {0, 1, 0, 1};
  EXPECT_EQ(group_segments(profile).groups.count, 2u);
}

// As many as there are different signatures, however many and whatever comes between segments of the same one.
TEST(Groups, HoldAllSegmentsOfASignatureAndNoOthers) {
  constexpr std::size_t segments = 20000;
  Profile profile = uniform_profile(segments, 1.0);
  std::mt19937 random(7);
  std::uniform_int_distribution<std::uint16_t> any_bin(0, 24);
  const std::array counted{Feature::sends_blocking, Feature::rma_operations, Feature::reads};
  for (const Feature feature : counted) {
    for (int bin = 1; bin < 25; ++bin) column(profile, feature).bins.push_back(bin);
    column(profile, feature).index.resize(segments);
    for (std::uint16_t& bin : column(profile, feature).index) bin = any_bin(random);
  }
  std::map<std::array<std::uint16_t, counted.size()>, std::vector<std::uint32_t>> expected;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    std::array<std::uint16_t, counted.size()> signature{};
    for (std::size_t i = 0; i < counted.size(); ++i) signature[i] = column(profile, counted[i]).index[segment];
    expected[signature].push_back(segment);
  }
  const Grouping grouping = group_segments(profile);
  ASSERT_EQ(grouping.groups.count, expected.size());
  std::uint32_t group = 0;
  for (const auto& [signature, members] : expected) {
    EXPECT_TRUE(std::ranges::equal(grouping.members(group), members)) << group;
    for (const std::uint32_t segment : members) EXPECT_EQ(grouping.groups.of[segment], group);
    ++group;
  }
}

TEST(Groups, OfAnEmptyProfileAreNone) {
  const Grouping grouping = group_segments(uniform_profile(0, 1.0));
  EXPECT_EQ(grouping.groups.count, 0u);
  EXPECT_EQ(grouping.clusters, 0u);
}

}  // namespace
