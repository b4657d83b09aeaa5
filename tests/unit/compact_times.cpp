#include "libprofile/record/compact_times.hpp"

#include <gtest/gtest.h>

namespace {

using halcyon::CompactTimes;
using halcyon::PartsOfTime;

TEST(CompactTimes, KeepsEachPartToAThousandthOfTheDuration) {
  for (double duration = 1.0; duration < 1e12; duration *= 3.7) {
    for (double share = 1e-7; share <= 1.0; share *= 1.3) {
      const PartsOfTime parts{
          {share * duration, 0.0, duration, 0.5 * share * duration}, 0.3 * share * duration, 0.7 * share * duration};
      const PartsOfTime kept = CompactTimes::of(parts, duration).parts_of(duration);
      for (std::size_t kind = 0; kind < parts.kinds.size(); ++kind) {
        ASSERT_NEAR(kept.kinds[kind], parts.kinds[kind], duration / 1000.0);
      }
      ASSERT_NEAR(kept.off_cpu, parts.off_cpu, duration / 4000.0);
      ASSERT_NEAR(kept.beyond_usual, parts.beyond_usual, duration / 4000.0);
    }
  }
}

TEST(CompactTimes, StillTellsAPartOfAMillionthFromNone) {
  const PartsOfTime kept = CompactTimes::of({{1e-6, 0.0, 0.0, 0.0}, 1e-6, 1e-6}, 1.0).parts_of(1.0);
  EXPECT_NEAR(kept.kinds[0], 1e-6, 0.1e-6);
  EXPECT_NEAR(kept.off_cpu, 1e-6, 0.3e-6);
  EXPECT_NEAR(kept.beyond_usual, 1e-6, 0.3e-6);
}

TEST(CompactTimes, TakesAPartThatIsLongerThanTheSegmentForAllOfIt) {
  EXPECT_EQ(CompactTimes::of({{5.0, 0.0, 0.0, 0.0}, 7.0, 9.0}, 2.0).parts_of(2.0).kinds[0], 2.0);
  EXPECT_EQ(CompactTimes::of({}, 0.0).parts_of(0.0).kinds[0], 0.0);
}

}  // namespace
