#include "libprofile/record/steps.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using namespace halcyon;

constexpr std::uint64_t microsecond = 1000;  // ticks
constexpr std::uint64_t step = 200 * microsecond;
const char places[1000] = {};  // of a program

// A rank whose clock ticks once a nanosecond.
class Rank {
 public:
  Rank() { steps_->begin(thread_, 1.0, {now_}); }

  void call(std::size_t place, std::uint64_t after) {
    const Ticks entry{now_ += after};
    thread_.add(Feature::sends_blocking, 1);
    now_ += microsecond;
    const void* const site = places + place;
    if (!steps_->met(site) || !steps_->look(site, entry, {now_})) return;
    steps_->add_row(thread_, {now_}, [](const void* of_call) { return of_call; });
  }
  std::vector<StepEnds> end() {
    steps_->end(thread_, {now_});
    return steps_->ends();
  }
  std::vector<SegmentRow> steps(const StepEnds& ends, std::uint32_t every) const {
    std::vector<SegmentRow> all;
    steps_->for_each_step(ends.number, ends.first, ends.calls, every,
                          [&all](const SegmentRow& row, bool) { all.push_back(row); });
    return all;
  }
  std::size_t rows() const { return steps_->rows(); }
  std::uint64_t now() const { return now_; }

 private:
  std::uint64_t now_ = 0;
  ThreadState thread_{};
  std::unique_ptr<Steps> steps_ = std::make_unique<Steps>();
};

TEST(Steps, EndAtEachCallFromThePlaceThatRecurs) {
  Rank rank;
  for (int i = 0; i < 100; ++i) rank.call(0, step);
  const std::vector<StepEnds> ends = rank.end();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].site, places);
  EXPECT_EQ(ends[0].calls, 100u);
  EXPECT_EQ(ends[0].regular, 1u);
  const std::vector<SegmentRow> steps = rank.steps(ends[0], 1);
  ASSERT_EQ(steps.size(), 100u - ends[0].first + 2);  // the last one ends with the program
  for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
    EXPECT_EQ(steps[i].measured[index_of(Measure::duration)], static_cast<double>(step + microsecond));
    EXPECT_EQ(steps[i].features[index_of(Feature::sends_blocking)], 1.0);
  }
}

TEST(Steps, TakeBoundedMemoryAndLoseNothing) {
  constexpr int calls = 300'000;
  Rank rank;
  for (int i = 0; i < calls; ++i) {
    rank.call(0, step);
    if (i % 1000 == 0) rank.call(1, step);
  }
  const std::vector<StepEnds> ends = rank.end();
  EXPECT_LE(rank.rows(), Steps::most_rows);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_GT(ends[0].every, 1u);
  EXPECT_EQ(ends[1].every, 1u);  // a place with few rows keeps them
  for (const StepEnds& chosen : ends) {
    double time = 0.0;
    double sends = 0.0;
    const std::vector<SegmentRow> steps = rank.steps(chosen, chosen.every);
    for (const SegmentRow& row : steps) {
      time += row.measured[index_of(Measure::duration)];
      sends += row.features[index_of(Feature::sends_blocking)];
    }
    EXPECT_NEAR(time / static_cast<double>(rank.now()), 1.0, 1e-4);  // sums of floats
    EXPECT_EQ(sends, calls + calls / 1000);
    EXPECT_NEAR(static_cast<double>(steps.size()), static_cast<double>(chosen.calls / chosen.every), 10.0);
  }
}

TEST(Steps, CoverSeveralCallsWhereTheseAreShort) {
  Rank rank;
  for (int i = 0; i < 10'000; ++i) rank.call(0, microsecond);
  const std::vector<StepEnds> ends = rank.end();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_GE(ends[0].every * 2.0 * microsecond, Steps::least_nanoseconds);
}

TEST(Steps, CoverOneCallAgainIfThoseOfAShortPhaseWereShort) {
  Rank rank;
  for (int i = 0; i < 5000; ++i) rank.call(0, microsecond);
  for (int i = 0; i < 3000; ++i) rank.call(0, 5 * step);
  const std::vector<StepEnds> ends = rank.end();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].every, 1u);
  EXPECT_GT(rank.steps(ends[0], 1).size(), 1000u);
}

TEST(Steps, CoverAllCallsThatComeInARow) {
  constexpr int in_a_row = 5;
  Rank rank;
  for (int i = 0; i < 200; ++i) {
    for (int call = 0; call < in_a_row; ++call) rank.call(0, call == 0 ? 2000 * microsecond : microsecond);
  }
  const std::vector<StepEnds> ends = rank.end();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].regular, static_cast<std::uint32_t>(in_a_row));
}

TEST(Steps, OfPlacesThatAreCalledTogetherOneEndsThem) {
  Rank rank;
  for (int i = 0; i < 100; ++i) {
    for (std::size_t place = 0; place < 10; ++place) rank.call(place, step);
  }
  EXPECT_EQ(rank.end().size(), 1u);
}

TEST(Steps, OfALaterPhaseTakeTheRoomOfAnEarlierOne) {
  Rank rank;
  for (int i = 0; i < 64; ++i) {
    for (std::size_t place = 0; place < 6; ++place) {
      if (i % (1 << place) == 0) rank.call(place, step);
    }
  }
  for (int i = 0; i < 1000; ++i) rank.call(100, step);
  const std::vector<StepEnds> ends = rank.end();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].site, places + 100);
}

}  // namespace
