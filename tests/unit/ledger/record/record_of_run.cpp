#include "ledger/record/record_of_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/attribution/divided_segments.hpp"
#include "ledger/record/spool_file.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::ledger;
using namespace halcyon::testing;

constexpr std::int64_t a_second = 1000000000;
constexpr std::int64_t start_of_runs = 1700000000;  // s since 1970

// 1000 segments of 10 ms on two hosts. Every tenth takes 20 ms, in point-to-point calls of the rank on `right`.
Profile delayed_profile() {
  Profile profile = uniform_profile(1000, 0.010);
  profile.rank_host = {"left", "right"};
  profile.start_nanoseconds = start_of_runs * a_second;
  for (std::size_t segment = 0; segment < profile.segments; segment += 10) {
    profile.duration[segment] += 0.010F;
    profile.last_rank[segment] = 1;
    profile.last_rank_times[static_cast<std::size_t>(TimeKind::point_to_point)][segment] = 0.010F;
  }
  profile.run_time_seconds = 11.0;
  profile.rank_run_time.assign(2, 11.0);
  column(profile, Feature::bytes_sent).bins = {1000.0};
  return profile;
}

RunRecord record_made_of(const Profile& profile, const Given& given = {}) {
  const Grouping grouping = group_segments(profile);
  const Outcome<RunRecord> record = record_of(profile, grouping, analyze(profile, grouping, "compound"), given);
  EXPECT_TRUE(record) << record.failure().message;
  return *record;
}

// Ranks that computed for so many seconds in each eighth of the run, and did alike work.
void set_sections(Profile& profile, const std::vector<float>& computing) {
  profile.sections.place.assign(RankSections::eighths, "");
  for (const float seconds : computing) {
    for (const auto column : RankSections::columns) {
      const float value = column == &RankSections::computing ? seconds : column == &RankSections::work ? 1.0F : 0.0F;
      (profile.sections.*column).insert((profile.sections.*column).end(), RankSections::eighths, value);
    }
  }
}

template <class Member>
auto sum_over(const std::vector<SliceRow>& slices, Member member) {
  auto sum = slices.front().*member;
  for (std::size_t i = 1; i < slices.size(); ++i) sum += slices[i].*member;
  return sum;
}

TEST(RecordOfRun, SlicesHoldWhatTheRunLostAndSent) {
  const RunRecord record = record_made_of(delayed_profile());
  ASSERT_EQ(record.slices.size(), 11u);
  EXPECT_EQ(record.slices.front().second, start_of_runs);
  EXPECT_NEAR(sum_over(record.slices, &SliceRow::point_to_point), 1.0, 0.05);
  EXPECT_NEAR(sum_over(record.slices, &SliceRow::computation), 0.0, 0.01);
  EXPECT_NEAR(static_cast<double>(sum_over(record.slices, &SliceRow::bytes_sent)), 1e6, 20.0);
  EXPECT_EQ(record.slices.front().host, 1);
  EXPECT_NEAR(sum_over(record.slices, &SliceRow::host_excess), 1.0, 0.05);
}

TEST(RecordOfRun, SlicesHoldForHowLongAllRanksComputed) {
  Profile profile = delayed_profile();
  FeatureColumn& work = column(profile, Feature::compute);
  work = {.bins = {0.0, 7.0}, .index = std::vector<std::uint16_t>(profile.segments, 0)};  // 7 of any unit
  std::fill_n(work.index.begin(), profile.segments / 2, std::uint16_t{1});
  set_sections(profile, {0.5F, 0.125F});
  const std::vector<SliceRow> slices = record_made_of(profile).slices;
  EXPECT_NEAR(static_cast<double>(sum_over(slices, &SliceRow::computing_ms)), 5000.0, 6.0);
  EXPECT_NEAR(static_cast<double>(slices[1].computing_ms), 5000.0 / 5.5, 10.0);
  EXPECT_EQ(slices[7].computing_ms, 0);
}

TEST(RecordOfRun, ASliceBeginsAtAMultipleOfItsLengthInWhicheverRun) {
  Profile profile = delayed_profile();
  profile.start_nanoseconds += 3 * a_second + 700000000;
  const RunRecord record = record_made_of(profile, {.slice_seconds = 4});
  EXPECT_EQ(record.run.slice_seconds, 4);
  ASSERT_EQ(record.slices.size(), 4u);  // 3.7 s to 14.7 s
  for (const SliceRow& slice : record.slices) EXPECT_EQ(slice.second % 4, 0);
  EXPECT_LT(record.slices.front().bytes_sent, record.slices[1].bytes_sent);
}

TEST(RecordOfRun, ALongSegmentIsSpreadOverItsSlices) {
  Profile profile = uniform_profile(20, 5.0);
  profile.start_nanoseconds = start_of_runs * a_second;
  profile.run_time_seconds = 100.0;
  column(profile, Feature::bytes_written).bins = {500.0};
  const RunRecord record = record_made_of(profile);
  ASSERT_EQ(record.slices.size(), 100u);
  for (const SliceRow& slice : record.slices) EXPECT_EQ(slice.bytes_written, 100);
}

TEST(RecordOfRun, ALongRunHasLongerSlices) {
  Profile profile = uniform_profile(1000, 10.0);
  profile.start_nanoseconds = start_of_runs * a_second;
  profile.run_time_seconds = 10000.0;
  const RunRecord record = record_made_of(profile);
  EXPECT_EQ(record.run.slice_seconds, 4);
  EXPECT_LE(record.slices.size(), most_slices);
}

TEST(RecordOfRun, ARecoveredProfileIsTheSameRunAndAnotherStartIsNot) {
  Profile profile = delayed_profile();
  const RunRecord complete = record_made_of(profile);
  profile.exit_state = "killed";
  profile.run_time_seconds = 9.0;
  EXPECT_EQ(record_made_of(profile).run.key, complete.run.key);
  ++profile.start_nanoseconds;
  EXPECT_NE(record_made_of(profile).run.key, complete.run.key);
}

TEST(RecordOfRun, WorkIsTheCommandTheRanksAndTheNumberOfHosts) {
  Profile profile = delayed_profile();
  profile.command = "/opt/site/bin/solve -n 5";
  const RunRecord record = record_made_of(profile);
  EXPECT_EQ(record.work.program, "solve");
  profile.mpi = "another";
  profile.rank_host = {"other", "hosts"};
  EXPECT_EQ(record_made_of(profile).work.work, record.work.work);
  profile.rank_host = {"one", "one"};
  EXPECT_NE(record_made_of(profile).work.work, record.work.work);
}

TEST(RecordOfRun, TextsAreLegibleAndShort) {
  Profile profile = delayed_profile();
  profile.user = "a\n\xff";
  profile.command = std::string(5000, 'x') + "\xc3\xa4";
  const RunRecord record = record_made_of(profile);
  EXPECT_EQ(record.run.user_name, "a\\n\\xff");
  EXPECT_LT(record.work.command.size(), 2010u);
  EXPECT_TRUE(run_in(spool_text(record)));
}

TEST(RecordOfRun, AHostThatComputesSlowlyHasTheLogarithmOfItsPace) {
  Profile profile = uniform_profile(1000, 0.010, 4);
  profile.rank_host = {"a", "b", "c", "d"};
  profile.start_nanoseconds = start_of_runs * a_second;
  set_sections(profile, {1.0F, 1.0F, 1.2F, 1.0F});
  profile.counter = "papi:INSTRUCTIONS";
  const RunRecord record = record_made_of(profile);
  EXPECT_NEAR(record.hosts[2].log_pace.value(), std::log(1.2), 1e-6);
  EXPECT_NEAR(record.hosts[0].log_pace.value(), 0.0, 1e-6);
  EXPECT_NEAR(record.hosts[2].log_pace_error.value(), 0.0, 1e-6);
  profile.counter = "cpu";  // of which a slow host takes more
  EXPECT_FALSE(record_made_of(profile).hosts[2].log_pace);
}

TEST(RecordOfRun, WhatIsNoRunHasNoRecord) {
  Profile composed = delayed_profile();
  composed.composed_of = {"a.h5", "b.h5"};
  Profile timeless = delayed_profile();
  timeless.start_nanoseconds = 0;
  timeless.start_time = "?";
  for (const Profile* profile : {&composed, &timeless}) {
    const Grouping grouping = group_segments(*profile);
    EXPECT_FALSE(record_of(*profile, grouping, analyze(*profile, grouping, "compound"), {}));
  }
}

TEST(DividedSegments, AddUpToTheBreakdown) {
  const Profile profile = delayed_profile();
  const Grouping grouping = group_segments(profile);
  const Analysis analysis = analyze(profile, grouping, "compound");
  SecondsByKind sums{};
  std::size_t before = 0;
  for_each_divided(profile, grouping, analysis.excess, [&](std::size_t segment, const SecondsByKind& kinds) {
    EXPECT_GE(segment, before);
    before = segment;
    double sum = 0.0;
    for (std::size_t kind = 0; kind < excess_kind_count; ++kind) {
      sums[kind] += kinds[kind];
      sum += kinds[kind];
    }
    EXPECT_NEAR(sum, static_cast<double>(analysis.excess[segment]), 1e-9);
  });
  for (std::size_t kind = 0; kind < excess_kind_count; ++kind) {
    EXPECT_NEAR(sums[kind], analysis.breakdown.kinds[kind], 1e-9);
  }
}

}  // namespace
