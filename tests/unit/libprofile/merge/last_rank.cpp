#include "libprofile/merge/last_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

// A rank's segment, in ms.
struct Rank {
  double boundary = 0.0;
  double calls = 0.0;
  double off_cpu = 0.0;
};

int last_of(const std::vector<Rank>& ranks) {
  const auto value = [](const Rank& rank) { return halcyon::lateness(rank.boundary, rank.calls, rank.off_cpu); };
  const auto last =
      std::max_element(ranks.begin(), ranks.end(), [&](const Rank& a, const Rank& b) { return value(a) < value(b); });
  return static_cast<int>(last - ranks.begin());
}

TEST(LastRank, IsTheOneThatWaitsLeastInTheBoundary) {
  EXPECT_EQ(last_of({{.boundary = 5.0}, {.boundary = 0.1}, {.boundary = 4.9}}), 1);
}

TEST(LastRank, IsTheOneThatIsStoppedInsideTheBoundary) {
  EXPECT_EQ(last_of({{.boundary = 5.0}, {.boundary = 5.0, .off_cpu = 4.8}, {.boundary = 5.0}}), 1);
  // though another one usually comes last
  EXPECT_EQ(last_of({{.boundary = 4.0}, {.boundary = 5.0, .off_cpu = 4.8}}), 1);
}

TEST(LastRank, IsTheOneThatIsStoppedInACallAndNotItsPartnerThatWaitsForIt) {
  EXPECT_EQ(last_of({{.boundary = 0.02, .calls = 5.0, .off_cpu = 4.8}, {.boundary = 0.01, .calls = 5.0}}), 0);
  // though the partner had something left to do after it, and came later
  EXPECT_EQ(last_of({{.boundary = 3.0, .calls = 5.0, .off_cpu = 4.8}, {.boundary = 0.0, .calls = 5.0}}), 0);
}

TEST(LastRank, IsTheOneThatIsPreemptedAndNotItsPartnerThatWaitsForIt) {
  EXPECT_EQ(last_of({{.boundary = 0.02, .off_cpu = 4.8}, {.boundary = 0.01, .calls = 5.0}}), 0);
}

TEST(LastRank, IsTheOneThatComputesLongerAndNotItsPartnerThatPolls) {
  EXPECT_EQ(last_of({{.boundary = 0.02}, {.boundary = 0.01, .calls = 5.0}}), 0);
}

TEST(LastRank, IsTheOneWhoseMessageWasSlow) {
  EXPECT_EQ(last_of({{.boundary = 5.0}, {.boundary = 0.1, .calls = 5.0}, {.boundary = 5.0}}), 1);
}

TEST(LastRank, IsNotTheOneThatIsStoppedWhileItHasTimeToSpare) {
  EXPECT_EQ(last_of({{.boundary = 0.0}, {.boundary = 3.0, .off_cpu = 2.0}}), 0);
}

}  // namespace
