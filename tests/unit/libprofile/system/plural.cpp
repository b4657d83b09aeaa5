#include "libprofile/system/plural.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace halcyon;

TEST(Plural, HasOneThingAlone) {
  EXPECT_EQ(plural(1, "rank"), "1 rank");
  EXPECT_EQ(plural(0, "rank"), "0 ranks");
  EXPECT_EQ(plural(std::uint64_t{18446744073709551615u}, "more segment"), "18446744073709551615 more segments");
}

TEST(Plural, TakesTheWordForSeveralWhereAnSIsNotEnough) {
  EXPECT_EQ(plural(1, "boundary", "boundaries"), "1 boundary");
  EXPECT_EQ(plural(2, "boundary", "boundaries"), "2 boundaries");
}

}  // namespace
