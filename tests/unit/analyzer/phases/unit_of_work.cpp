// A run is a sequence of segments that comes again and again.
#include "analyzer/phases/unit_of_work.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

Profile ending_at(const std::vector<std::uint16_t>& sites) {
  Profile profile = uniform_profile(sites.size(), 1.0);
  profile.sites = {"a", "b", "c"};
  profile.site = sites;
  return profile;
}

std::vector<std::uint16_t> repeated(const std::vector<std::uint16_t>& sequence, std::size_t times) {
  std::vector<std::uint16_t> sites;
  for (std::size_t i = 0; i < times; ++i) sites.insert(sites.end(), sequence.begin(), sequence.end());
  return sites;
}

TEST(UnitOfWork, IsASequenceOfUnlikeSegments) {
  const std::optional<UnitOfWork> unit = unit_of_work(ending_at(repeated({0, 0, 1, 0, 2}, 40)));
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->segments, 5u);
  EXPECT_EQ(unit->times, 40u);
}

TEST(UnitOfWork, IsOneSegmentWhereAllEndAtOnePlace) {
  const std::optional<UnitOfWork> unit = unit_of_work(ending_at(std::vector<std::uint16_t>(100, 1)));
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->segments, 1u);
  EXPECT_EQ(unit->times, 100u);
}

TEST(UnitOfWork, MayBeLeftOutNowAndThen) {
  std::vector<std::uint16_t> sites = repeated({0, 1, 2}, 100);
  for (std::size_t i = 60; i < sites.size(); i += 60) sites[i] = 1;
  const std::optional<UnitOfWork> unit = unit_of_work(ending_at(sites));
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->segments, 3u);
}

TEST(UnitOfWork, IsNoneWhereNothingRecurs) {
  std::vector<std::uint16_t> sites;
  std::uint32_t state = 1;
  for (int i = 0; i < 400; ++i) {
    state = state * 1664525u + 1013904223u;
    sites.push_back(static_cast<std::uint16_t>((state >> 16) % 3));
  }
  EXPECT_FALSE(unit_of_work(ending_at(sites)));
  EXPECT_FALSE(unit_of_work(ending_at(repeated({0, 1, 2}, 3))));
  EXPECT_FALSE(unit_of_work(uniform_profile(0, 1.0)));
}

}  // namespace
