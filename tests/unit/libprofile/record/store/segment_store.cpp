#include "libprofile/record/store/segment_store.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/stored_segments.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

SegmentRow row_with_compute(double compute) {
  SegmentRow row;
  row[Measure::duration] = 1000.0;
  row.features[index_of(Feature::compute)] = compute;
  return row;
}

TEST(SegmentStore, GivesBackWhatWasStored) {
  SegmentStore store(10, true);
  SegmentRow row = row_with_compute(42.0);
  row[Measure::boundary] = 300.0;
  row[Measure::off_cpu] = 250.0;
  row[Measure::cpu_wait] = 120.0;
  row[Measure::beyond_usual] = 450.0;
  row.site = 7;
  row[Measure::injected_requested] = 5.0;
  row[Measure::injected_actual] = 6.0;
  store.push(row);
  store.settle();
  const StoredSegment segment = store.get(0);
  EXPECT_EQ(segment[Measure::duration], 1000.0);
  EXPECT_NEAR(segment[Measure::boundary], 300.0, 4.0);
  EXPECT_NEAR(segment[Measure::off_cpu], 250.0, 4.0);
  EXPECT_NEAR(segment[Measure::beyond_usual], 450.0, 4.0);
  EXPECT_NEAR(segment[Measure::cpu_wait], 120.0, 4.0);
  EXPECT_EQ(segment.site, 7);
  EXPECT_EQ(segment[Measure::injected_requested], 5.0);
  EXPECT_EQ(segment[Measure::injected_actual], 6.0);
  EXPECT_EQ(compute_of(store, 0), 42.0);
}

// Merges happen in every block and concern segments of all earlier blocks. What each segment must point at is found by
// following the merges one by one, as the store itself never does.
TEST(SegmentStore, LetsSegmentsOfAllBlocksFollowTheMergesOfTheirBins) {
  const std::size_t count = 3 * SegmentStore::block_size + 100;
  SegmentStore store(count, false);
  Quantizer<256> reference;
  std::vector<std::uint16_t> slots;
  std::mt19937 engine(7);
  std::lognormal_distribution<> draw(10.0, 2.0);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = draw(engine);
    store.push(row_with_compute(value));
    const auto inserted = reference.insert(value);
    if (inserted.merge) std::replace(slots.begin(), slots.end(), inserted.merge->from, inserted.merge->into);
    slots.push_back(inserted.slot);
  }
  store.settle();
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(store.get(i).slot(index_of(Feature::compute)), slots[i]) << "segment " << i;
  }
}

// Bins merge into weighted means: whatever merges, what all segments have together stays. Most segments have the value
// of the one before.
TEST(SegmentStore, KeepsTheSumOfAllValuesInItsBins) {
  const std::size_t count = SegmentStore::block_size + 1000;
  SegmentStore store(count, false);
  std::mt19937 engine(7);
  std::lognormal_distribution<> draw(10.0, 0.1);
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = i % 5 == 0 ? draw(engine) : 20000.0;
    store.push(row_with_compute(value));
    sum += value;
  }
  store.settle();
  double kept = 0.0;
  for (std::size_t i = 0; i < count; ++i) kept += compute_of(store, i);
  EXPECT_NEAR(kept, sum, 1e-9 * sum);
}

TEST(SegmentStore, CountsWhatDoesNotFit) {
  SegmentStore store(3, false);
  for (int i = 0; i < 5; ++i) store.push(row_with_compute(i));
  EXPECT_EQ(store.size(), 3u);
  EXPECT_EQ(store.dropped(), 2u);
}

}  // namespace
