#include "libprofile/record/block/packed_shares.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon;

Measured<double> segment_of(double duration) {
  Measured<double> segment{};
  segment[index_of(Measure::duration)] = duration;
  return segment;
}

Measured<double> kept(const Measured<double>& segment) {
  Measured<double> back = segment_of(segment[index_of(Measure::duration)]);
  PackedShares::of(segment).unpack_into(back);
  return back;
}

TEST(PackedShares, KeepEachTimeToThePrecisionOfItsBits) {
  for (double duration = 1.0; duration < 1e12; duration *= 3.7) {
    for (double share = 1e-7; share <= 1.0; share *= 1.3) {
      Measured<double> segment = segment_of(duration);
      for (const MeasureInfo& info : measures) {
        if (info.kept == Kept::share) segment[index_of(info.measure)] = share * duration;
      }
      const Measured<double> back = kept(segment);
      for (const MeasureInfo& info : measures) {
        const double largest = static_cast<double>((1u << info.bits) - 1);
        if (info.kept != Kept::share) continue;
        ASSERT_NEAR(back[index_of(info.measure)], share * duration, duration / largest);
      }
    }
  }
}

TEST(PackedShares, StillTellFifteenMillionthsOfTheDurationFromNothing) {
  Measured<double> segment = segment_of(1.0);
  segment[index_of(Measure::point_to_point)] = 15e-6;
  segment[index_of(Measure::off_cpu)] = 15e-6;
  EXPECT_NEAR(kept(segment)[index_of(Measure::point_to_point)], 15e-6, 1e-6);
  EXPECT_NEAR(kept(segment)[index_of(Measure::off_cpu)], 15e-6, 1e-6);
  EXPECT_EQ(kept(segment)[index_of(Measure::collective)], 0.0);
}

TEST(PackedShares, TakeATimeThatIsLongerThanTheSegmentForAllOfIt) {
  Measured<double> segment = segment_of(2.0);
  segment[index_of(Measure::boundary)] = 5.0;
  EXPECT_EQ(kept(segment)[index_of(Measure::boundary)], 2.0);
  EXPECT_EQ(kept(segment_of(0.0))[index_of(Measure::boundary)], 0.0);
}

}  // namespace
