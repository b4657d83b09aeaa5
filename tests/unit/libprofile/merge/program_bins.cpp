#include "libprofile/merge/program_bins.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon;

TEST(Patterns, NumbersThemInTheOrderInWhichTheyAreMet) {
  Patterns<double> patterns;
  EXPECT_EQ(patterns.number_of(77, 1.0), 0);
  EXPECT_EQ(patterns.number_of(33, 2.0), 1);
  EXPECT_EQ(patterns.number_of(77, 1.0), 0);
  EXPECT_EQ(patterns.meanings(), (std::vector<double>{1.0, 2.0}));
}

TEST(Patterns, AreDiverseBeyondTheProgramWideBins) {
  Patterns<double> patterns;
  for (std::uint64_t hash = 0; hash < program_bins; ++hash) patterns.number_of(hash, 0.0);
  EXPECT_FALSE(patterns.diverse());
  patterns.number_of(program_bins, 0.0);
  EXPECT_TRUE(patterns.diverse());
}

TEST(Patterns, TellTheSameCountsOnOtherRanksApart) { EXPECT_NE(mix(mix(0, 1), 2), mix(mix(0, 2), 1)); }

TEST(NearestBin, GoesByRelativeDistance) {
  const std::vector<double> bins{0.0, 10.0, 100.0};
  EXPECT_EQ(nearest_bin(bins, 0.0), 0);
  EXPECT_EQ(nearest_bin(bins, 0.5), 1);
  EXPECT_EQ(nearest_bin(bins, 25.0), 1);
  EXPECT_EQ(nearest_bin(bins, 55.0), 2);
  EXPECT_EQ(nearest_bin(bins, 1e6), 2);
}

}  // namespace
