#include "analyzer/judge/judged_segments.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

// 40 segments of 1 s, of which every tenth takes 2 s; four of other work, too few to be judged; 40 with other counts.
Profile three_kinds() {
  Profile profile = uniform_profile(84, 1.0);
  for (std::size_t i = 0; i < 40; i += 10) profile.duration[i] = 2.0F;
  FeatureColumn& work = column(profile, Feature::compute);
  work = {{10.0, 20.0}, std::vector<std::uint16_t>(84, 0)};
  for (std::size_t i = 40; i < 44; ++i) work.index[i] = 1;
  FeatureColumn& sends = column(profile, Feature::sends_blocking);
  sends = {{1.0, 2.0}, std::vector<std::uint16_t>(84, 0)};
  for (std::size_t i = 44; i < 84; ++i) sends.index[i] = 1;
  profile.run_time_seconds = 88.0;
  return profile;
}

/// Analysed once, since segments refer to the analysis.
struct WalkedRun {
  explicit WalkedRun(Profile of) : profile(std::move(of)) {
    JudgedSegments walk(profile, grouping, analysis);
    while (const std::optional<JudgedSegment> segment = walk.next()) segments.push_back(*segment);
  }

  Profile profile;
  Grouping grouping = group_segments(profile);
  Analysis analysis = analyze(profile, grouping, "paper");
  std::vector<JudgedSegment> segments;
};

TEST(JudgedSegments, FollowEachOtherInTime) {
  const WalkedRun run(three_kinds());
  const std::vector<JudgedSegment>& all = run.segments;
  ASSERT_EQ(all.size(), 84u);
  EXPECT_EQ(all[0].start_seconds, 0.0);
  EXPECT_EQ(all[1].start_seconds, 2.0);
  EXPECT_EQ(all[83].start_seconds, 87.0);
  EXPECT_EQ(all[83].number, 83u);
}

TEST(JudgedSegments, HaveTheirOwnExcessAndAreDisturbedWhereTheyAreLongerThanTheThreshold) {
  const WalkedRun run(three_kinds());
  const std::vector<JudgedSegment>& all = run.segments;
  for (const JudgedSegment& segment : all) {
    const bool is_delayed = segment.number < 40 && segment.number % 10 == 0;
    EXPECT_EQ(segment.disturbed, is_delayed) << segment.number;
    EXPECT_NEAR(segment.excess_seconds, is_delayed ? 1.0 : 0.0, 1e-6) << segment.number;
  }
}

TEST(JudgedSegments, KnowTheirGroupAndItsCluster) {
  const WalkedRun run(three_kinds());
  const std::vector<JudgedSegment>& all = run.segments;
  EXPECT_EQ(all[0].cluster, all[44].cluster);
  EXPECT_NE(all[0].group, all[44].group);
  EXPECT_NE(all[0].cluster, all[40].cluster);
}

TEST(JudgedSegments, OfGroupsThatAreTooSmallAreNotJudged) {
  const WalkedRun run(three_kinds());
  const std::vector<JudgedSegment>& all = run.segments;
  EXPECT_EQ(all[40].judged, nullptr);
  EXPECT_EQ(all[44].judged, run.analysis.judged_group(all[44].group));
}

TEST(JudgedSegments, OfAnEmptyProfileAreNone) { EXPECT_TRUE(WalkedRun(uniform_profile(0, 1.0)).segments.empty()); }

}  // namespace
