#include "analyzer/groups/timeline.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace halcyon;

const std::vector<float> durations{1.0F, 0.5F, 2.5F};

TEST(Timeline, HasASegmentBeginWhereTheOneBeforeItEnded) {
  std::vector<double> begins;
  along_time({durations, {}}, [&](std::size_t, double begin, double) { begins.push_back(begin); });
  EXPECT_EQ(begins, (std::vector<double>{0.0, 1.0, 1.5}));
  EXPECT_EQ(length_of(durations), 4.0);
}

TEST(Timeline, LeavesTheGapsBeforeSegmentsOut) {
  const std::vector<float> gaps{0.25F, 0.0F, 3.0F};
  const TimesOfSegments times{durations, gaps};
  std::vector<double> begins;
  along_time(times, [&](std::size_t, double begin, double) { begins.push_back(begin); });
  EXPECT_EQ(begins, (std::vector<double>{0.25, 1.25, 4.75}));
  EXPECT_EQ(times.length(), 7.25);
  EXPECT_EQ(times.from(1, 3).length(), 6.0);
}

TEST(Timeline, CutsARunIntoEqualPartsByTime) {
  const PartsByTime parts{.seconds = 4.0, .count = 8};
  EXPECT_EQ(parts.length(), 0.5);
  EXPECT_EQ(parts.begin(3), 1.5);
  EXPECT_EQ(parts.at(1.5), 3U);
  EXPECT_EQ(parts.at(1.49), 2U);
}

TEST(Timeline, CountsTheEndOfARunAsItsLastPart) { EXPECT_EQ((PartsByTime{.seconds = 4.0, .count = 8}.at(4.0)), 7U); }

TEST(Timeline, IsOnePartWhereARunTookNoTime) { EXPECT_EQ((PartsByTime{.seconds = 0.0, .count = 8}.at(0.0)), 0U); }

TEST(Timeline, SpreadsAnAmountOverThePartsItSpansByTheTimeInEach) {
  const PartsByTime parts{.seconds = 4.0, .count = 4};
  std::vector<double> sums(4, 0.0);
  spread_evenly(parts, 0.5, 2.0, 8.0, sums);
  EXPECT_EQ(sums, (std::vector<double>{2.0, 4.0, 2.0, 0.0}));
}

TEST(Timeline, CutsARunIntoPartsOfAsManySegments) {
  for (const PartsByCount::Edge edge : {PartsByCount::Edge::before, PartsByCount::Edge::after}) {
    for (std::size_t segments = 7; segments < 40; ++segments) {
      const PartsByCount parts{.segments = segments, .count = 7, .edge = edge};
      EXPECT_EQ(parts.begin(0), 0U);
      EXPECT_EQ(parts.begin(7), segments);
      for (std::size_t part = 0; part < 7; ++part) {
        const std::size_t size = parts.begin(part + 1) - parts.begin(part);
        EXPECT_TRUE(size == segments / 7 || size == (segments + 6) / 7) << segments;
        for (std::size_t segment = parts.begin(part); segment < parts.begin(part + 1); ++segment) {
          EXPECT_EQ(parts.of(segment), part) << segment << " of " << segments;
        }
      }
    }
  }
}

}  // namespace
