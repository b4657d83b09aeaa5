// What many ranks recorded becomes one profile: the same over any exchange, and for any number of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>

#include "libprofile/format/columns.hpp"
#include "libprofile/format/contents.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/merge/merged_run.hpp"
#include "libprofile/merge/merger.hpp"
#include "tests/unit/in_memory_exchange.hpp"

namespace {

using namespace halcyon;
using halcyon::testing::run_ranks;

constexpr double ticks_per_second = 1e9;
constexpr double segment_ticks = 1e6;

// In each segment another rank comes last: it alone does not wait.
int last_rank(std::size_t segment, int ranks) { return static_cast<int>(segment * 7 + 3) % ranks; }

// One rank has most work.
double work_of(int rank, int ranks, std::size_t segment) {
  return rank == static_cast<int>(segment) % ranks ? 3000.0 : 1000.0;
}

SegmentRow row_of(int rank, int ranks, std::size_t segment) {
  SegmentRow row;
  row[Measure::duration] = segment_ticks * static_cast<double>(1 + segment);
  row[Measure::boundary] = rank == last_rank(segment, ranks) ? 0.0 : 0.25 * row[Measure::duration];
  row.features[index_of(Feature::compute)] = work_of(rank, ranks, segment);
  row.features[index_of(Feature::sends_blocking)] = 2.0;
  row.features[index_of(Feature::bytes_sent)] = 64.0 * static_cast<double>(1 + segment % 3);
  row.features[index_of(Feature::reads)] = static_cast<double>((static_cast<std::size_t>(rank) + segment) % 2);
  return row;
}

// One rank with what it recorded.
struct SimulatedRank {
  SegmentStore store;
  RankRecording recording;

  SimulatedRank(int rank, int ranks, std::size_t segments) : store(segments, false) {
    for (std::size_t segment = 0; segment < segments; ++segment) store.push(row_of(rank, ranks, segment));
    store.settle();
    recording = {.store = &store,
                 .segments = store.size(),
                 .sites = {"barrier@app+0x10"},
                 .modules = {},
                 .boundary_kinds = 7,
                 .facts = {.command = "./app", .counter = "papi:PAPI_TOT_INS", .compute_units = "1"},
                 .figures = {}};
    recording.figures.nanoseconds_per_tick = 1e9 / ticks_per_second;
    recording.figures.run_time = 1.0;
    recording.figures.totals[index_of(Feature::sends_blocking)] = static_cast<std::uint64_t>(rank);
  }
  SimulatedRank(const SimulatedRank&) = delete;
  SimulatedRank& operator=(const SimulatedRank&) = delete;
};

// `change` may alter what a rank brings.
Outcome<Profile> merge_ranks(
    int ranks, std::size_t segments, const std::function<void(int rank, RankRecording&)>& change = [](int, auto&) {}) {
  ContentsSink contents;
  const bool ran = run_ranks(ranks, [&](const Exchange& exchange) {
    SimulatedRank rank(exchange.rank(), ranks, segments);
    change(exchange.rank(), rank.recording);
    const MergedRun merged = merge_run(exchange, rank.recording, {});
    send_merged_run(exchange, merged, contents);  // which only the root does
  });
  if (!ran) return Failure{"the machine does not let so many threads start"};
  contents.attribute("schema_version", std::int64_t{newest_schema_version});
  return check_profile(contents.take(), "memory");
}

void expect_profile_of(const Profile& profile, int ranks, std::size_t segments) {
  ASSERT_EQ(profile.ranks, ranks);
  ASSERT_EQ(profile.segments, segments);
  const FeatureColumn& bytes = profile.features[index_of(Feature::bytes_sent)];
  for (std::size_t segment = 0; segment < segments; ++segment) {
    const double seconds = segment_ticks / ticks_per_second * static_cast<double>(1 + segment);
    ASSERT_NEAR(profile.duration[segment], seconds, 1e-5 * seconds);
    ASSERT_EQ(profile.last_rank[segment], static_cast<std::uint32_t>(last_rank(segment, ranks)));
    const double waiting = 0.25 * seconds * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
    ASSERT_NEAR(profile.boundary_wait[segment], waiting, 2e-3 * seconds);
    ASSERT_EQ(bytes.bins[bytes.bin_of(segment)], 64.0 * static_cast<double>(1 + segment % 3) * ranks);
    if (ranks == 1) continue;
    ASSERT_EQ(profile.largest_work.bins, std::vector<double>{3000.0});
    ASSERT_EQ(profile.last_rank_work.bins[profile.last_rank_work.bin_of(segment)],
              work_of(last_rank(segment, ranks), ranks, segment));
  }
  EXPECT_EQ(profile.features[index_of(Feature::sends_blocking)].bins, std::vector<double>{2.0 * ranks});
  const std::vector<std::uint64_t>& sends = profile.totals[index_of(Feature::sends_blocking)];
  EXPECT_EQ(std::accumulate(sends.begin(), sends.end(), std::uint64_t{0}),
            static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(ranks - 1) / 2);
}

TEST(Merging, GivesOneProfileOfAnyNumberOfRanks) {
  constexpr std::size_t segments = 100;
  for (const int ranks : {1, 2, 3, 64, 257}) {  // more segments than ranks, and more ranks than segments
    const Outcome<Profile> profile = merge_ranks(ranks, segments);
    ASSERT_TRUE(profile) << profile.failure().message;
    expect_profile_of(*profile, ranks, segments);
  }
}

// The rows of an owner's share come in several pieces (of 58 254 rows), and it sends its share in several messages (of
// 65 536).
TEST(Merging, KeepsEverySegmentAndTheirOrderWhereAShareIsMoreThanOnePiece) {
  constexpr std::size_t segments = 200'001;
  const Outcome<Profile> profile = merge_ranks(3, segments);
  ASSERT_TRUE(profile) << profile.failure().message;
  expect_profile_of(*profile, 3, segments);
}

TEST(Merging, MakesOfEachMeasureWhatItsColumnIs) {
  const auto value_of = [](Measure measure, int rank) {
    const auto i = static_cast<int>(index_of(measure));
    return (0.02 + 0.05 * i / 12.0 + 0.3 * ((2 * rank + i) % 3)) * segment_ticks;
  };
  std::vector<std::unique_ptr<SegmentStore>> stores(3);
  const Outcome<Profile> profile = merge_ranks(3, 1, [&](int rank, RankRecording& recording) {
    std::unique_ptr<SegmentStore>& store = stores[static_cast<std::size_t>(rank)];
    store = std::make_unique<SegmentStore>(1, true);
    SegmentRow row;
    for (const MeasureInfo& info : measures) row[info.measure] = value_of(info.measure, rank);
    row[Measure::duration] = segment_ticks * (1.0 + 0.1 * rank);
    store->push(row);
    store->settle();
    recording.store = store.get();
  });
  ASSERT_TRUE(profile) << profile.failure().message;
  int compared = 0;
  for_each_measure_column(*profile, [&](const MeasureColumn& column, const std::vector<float>& values) {
    std::array<double, 3> of_ranks{};
    for (int rank = 0; rank < 3; ++rank) {
      of_ranks[static_cast<std::size_t>(rank)] =
          column.measure == Measure::duration ? segment_ticks * (1.0 + 0.1 * rank) : value_of(column.measure, rank);
    }
    const double sum = of_ranks[0] + of_ranks[1] + of_ranks[2];
    double expected = 0.0;
    switch (column.over_ranks) {
      case OverRanks::mean: expected = sum / 3.0; break;
      case OverRanks::sum: expected = sum; break;
      case OverRanks::least: expected = std::ranges::min(of_ranks); break;
      case OverRanks::largest: expected = std::ranges::max(of_ranks); break;
      case OverRanks::of_last_rank: expected = of_ranks[profile->last_rank.front()]; break;
      default: return;  // of several measures: tested by themselves
    }
    ++compared;
    ASSERT_EQ(values.size(), 1u) << column.name;
    EXPECT_NEAR(values.front(), expected / ticks_per_second, 0.01 * segment_ticks / ticks_per_second) << column.name;
  });
  EXPECT_EQ(compared, 13);
}

TEST(Merging, TakesTheFirstOfRanksThatComeAtTheSameTimeForTheLastOne) {
  SimulatedRank same(0, 1, 10);
  const Outcome<Profile> profile =
      merge_ranks(3, 10, [&](int, RankRecording& recording) { recording.store = &same.store; });
  ASSERT_TRUE(profile) << profile.failure().message;
  EXPECT_EQ(profile->last_rank, std::vector<std::uint32_t>(10, 0));
}

TEST(Merging, KnowsAPlaceByItsNameWhateverItsNumberOnARank) {
  const std::vector<std::string> places{"barrier@app+0x10", "allreduce@app+0x20"};
  std::vector<std::unique_ptr<SegmentStore>> stores(3);
  const Outcome<Profile> profile = merge_ranks(3, 10, [&](int rank, RankRecording& recording) {
    std::unique_ptr<SegmentStore>& store = stores[static_cast<std::size_t>(rank)];
    store = std::make_unique<SegmentStore>(10, false);
    recording.sites = places;
    if (rank == 1) std::swap(recording.sites[0], recording.sites[1]);
    for (std::size_t segment = 0; segment < 10; ++segment) {
      SegmentRow row = row_of(rank, 3, segment);
      row.site = static_cast<std::uint8_t>(segment % 3 == 0 ? rank == 1 : rank != 1);
      store->push(row);
    }
    store->settle();
    recording.store = store.get();
  });
  ASSERT_TRUE(profile) << profile.failure().message;
  ASSERT_EQ(profile->sites.size(), 2u);
  ASSERT_EQ(profile->site.size(), 10u);
  for (std::size_t segment = 0; segment < 10; ++segment) {
    EXPECT_EQ(profile->sites[profile->site[segment]], places[segment % 3 == 0 ? 0 : 1]) << segment;
  }
}

// Of three ranks, in shares of the duration: the time that each waited in calls of MPI, and for a CPU.
TEST(Merging, CountsOfTheWaitsForACpuWhatIsBeyondTheSlack) {
  struct Waits {
    std::array<double, 3> in_mpi;
    std::array<double, 3> for_cpu;
    double lost;
  };
  const std::vector<Waits> cases{{{0.0, 0.4, 0.4}, {0.4, 0.0, 0.0}, 0.4},   // the others waited for it
                                 {{0.0, 0.4, 0.4}, {0.4, 0.4, 0.0}, 0.4},   // another's wait cost nothing more
                                 {{0.0, 0.4, 0.4}, {0.0, 0.4, 0.4}, 0.0},   // they would have come early
                                 {{0.0, 0.1, 0.4}, {0.4, 0.0, 0.0}, 0.1},   // the next one came late by itself
                                 {{0.0, 0.1, 0.4}, {0.4, 0.3, 0.0}, 0.4}};  // or was delayed, too
  const std::size_t segments = cases.size();
  std::vector<std::unique_ptr<SegmentStore>> stores(3);
  const Outcome<Profile> profile = merge_ranks(3, segments, [&](int rank, RankRecording& recording) {
    const auto index = static_cast<std::size_t>(rank);
    stores[index] = std::make_unique<SegmentStore>(segments, false);
    for (const Waits& waits : cases) {
      SegmentRow row;
      row[Measure::duration] = segment_ticks;
      row[index % 2 == 0 ? Measure::boundary : Measure::point_to_point] = waits.in_mpi[index] * segment_ticks;
      row[Measure::off_cpu] = row[Measure::cpu_wait] = waits.for_cpu[index] * segment_ticks;
      stores[index]->push(row);
    }
    stores[index]->settle();
    recording.store = stores[index].get();
  });
  ASSERT_TRUE(profile) << profile.failure().message;
  for (std::size_t i = 0; i < segments; ++i) {
    const double seconds = segment_ticks / ticks_per_second;
    EXPECT_NEAR(profile->lost_to_cpu_wait[i], cases[i].lost * seconds, 0.004 * seconds) << i;
  }
}

// A rank that computes alone in its part of a segment: s for its work, and the work.
struct Share {
  double seconds = 0.010;
  double work = 1000.0;
};

// In each segment, the ranks wait for the last one in the boundary. `share(rank, segment)`.
Outcome<Profile> merge_shares(
    int ranks, std::size_t segments, const std::function<Share(int, std::size_t)>& share,
    const std::function<std::uint8_t(int, std::size_t)>& site = [](int, std::size_t) { return std::uint8_t{0}; }) {
  std::vector<std::unique_ptr<SegmentStore>> stores(static_cast<std::size_t>(ranks));
  return merge_ranks(ranks, segments, [&](int rank, RankRecording& recording) {
    std::unique_ptr<SegmentStore>& store = stores[static_cast<std::size_t>(rank)];
    store = std::make_unique<SegmentStore>(segments, false);
    for (std::size_t segment = 0; segment < segments; ++segment) {
      double longest = 0.0;
      for (int other = 0; other < ranks; ++other) longest = std::max(longest, share(other, segment).seconds);
      const Share own = share(rank, segment);
      SegmentRow row;
      row[Measure::duration] = longest * ticks_per_second;
      row[Measure::boundary] = (longest - own.seconds) * ticks_per_second;
      row.features[index_of(Feature::compute)] = own.work;
      row.site = site(rank, segment);
      store->push(row);
    }
    store->settle();
    recording.store = store.get();
    recording.sites = {"barrier@app+0x10", "allreduce@app+0x20"};
  });
}

double lost_of_each(const std::vector<float>& lost) {
  double seconds = 0.0;
  for (const float one : lost) seconds += static_cast<double>(one);
  return seconds / static_cast<double>(lost.size());
}

TEST(Peers, OfASlowRankDidTheSameWorkInLessTime) {
  const Outcome<Profile> profile = merge_shares(4, 160, [](int rank, std::size_t) {
    return rank == 2 ? Share{0.013, 1000.0} : Share{};
  });
  ASSERT_TRUE(profile) << profile.failure().message;
  EXPECT_NEAR(lost_of_each(profile->lost_to_slower_ranks), 0.003, 5e-5);
  EXPECT_NEAR(lost_of_each(profile->lost_to_more_work), 0.0, 5e-5);
  const RankSections& sections = profile->sections;
  ASSERT_EQ(sections.count(), 2 * RankSections::eighths);  // one place, and all others
  EXPECT_EQ(sections.place.front(), "barrier@app+0x10");
  EXPECT_EQ(sections.place.back(), "");
  ASSERT_EQ(sections.work.size(), 4 * sections.count());
  EXPECT_NEAR(sections.computing[2 * sections.count()], 20 * 0.013, 1e-3);
  EXPECT_NEAR(sections.waiting[0], 20 * 0.003, 1e-3);
  EXPECT_NEAR(sections.work[0], 20 * 1000.0, 1.0);
}

TEST(Peers, OfARankWithMoreWorkHadLess) {
  for (const int ranks : {2, 5}) {
    const Outcome<Profile> profile = merge_shares(ranks, 160, [](int rank, std::size_t) {
      return rank == 1 ? Share{0.015, 1500.0} : Share{};
    });
    ASSERT_TRUE(profile) << profile.failure().message;
    EXPECT_NEAR(lost_of_each(profile->lost_to_more_work), 0.005, 5e-5);
    EXPECT_NEAR(lost_of_each(profile->lost_to_slower_ranks), 0.0, 5e-5);
  }
}

TEST(Peers, OfASlowRankLoseNothingWhereAnotherComesLaterByItself) {
  const Outcome<Profile> profile = merge_shares(4, 160, [](int rank, std::size_t) {
    return rank == 1 ? Share{0.013, 1000.0} : rank == 2 ? Share{0.015, 1500.0} : Share{};
  });
  ASSERT_TRUE(profile) << profile.failure().message;
  EXPECT_NEAR(lost_of_each(profile->lost_to_slower_ranks), 0.0, 5e-5);
  EXPECT_NEAR(lost_of_each(profile->lost_to_more_work), 0.002, 5e-5);
}

TEST(Peers, AreNotBehindForAWhileAlone) {
  const Outcome<Profile> profile = merge_shares(4, 160, [](int rank, std::size_t segment) {
    return rank == 2 && segment < 130 ? Share{0.013, 1000.0} : Share{};
  });
  ASSERT_TRUE(profile) << profile.failure().message;
  EXPECT_EQ(lost_of_each(profile->lost_to_slower_ranks), 0.0);
}

// What is more work at one place is not slowness at another.
TEST(Peers, AreComparedAtTheSamePlaceOfTheProgram) {
  const Outcome<Profile> profile = merge_shares(
      4, 160,
      [](int rank, std::size_t segment) {
        if (segment % 2 == 0) return Share{0.010, 1000.0};
        return rank == 3 ? Share{0.030, 1500.0} : Share{0.020, 1000.0};  // another pace, and more work
      },
      [](int, std::size_t segment) { return static_cast<std::uint8_t>(segment % 2); });
  ASSERT_TRUE(profile) << profile.failure().message;
  EXPECT_EQ(profile->sections.count(), 3 * RankSections::eighths);
  EXPECT_NEAR(lost_of_each(profile->lost_to_slower_ranks), 0.0, 5e-5);
  EXPECT_NEAR(lost_of_each(profile->lost_to_more_work), 0.005, 5e-5);
}

TEST(Peers, AreComparedOverAllPlacesWhereTheyEndTheSameSegmentAtDifferentOnes) {
  const Outcome<Profile> profile = merge_shares(
      4, 160,
      [](int rank, std::size_t) {
        return rank == 2 ? Share{0.013, 1000.0} : Share{};
      },
      [](int rank, std::size_t segment) { return static_cast<std::uint8_t>(rank == 0 ? 1 : segment % 2); });
  ASSERT_TRUE(profile) << profile.failure().message;
  EXPECT_EQ(profile->sections.place, std::vector<std::string>(RankSections::eighths, ""));
  EXPECT_NEAR(lost_of_each(profile->lost_to_slower_ranks), 0.003, 5e-5);
}

TEST(Merging, GivesOneProfileOf4096Ranks) {
  constexpr int ranks = 4096;
  constexpr std::size_t segments = 40;
  const Outcome<Profile> profile = merge_ranks(ranks, segments);
  if (!profile) GTEST_SKIP() << profile.failure().message;
  expect_profile_of(*profile, ranks, segments);
}

TEST(Merging, FindsTheMedianOverAnyNumberOfRanks) {
  std::mt19937 engine(3);
  std::uniform_int_distribution<int> draw(0, static_cast<int>(program_bins) - 1);
  constexpr std::size_t segments = 3;
  for (const std::size_t ranks : {1u, 2u, 3u, 512u, 513u, 1000u}) {
    BinsOfRanks bins(segments, ranks);
    for (int repetition = 0; repetition < 2; ++repetition) {  // what was taken is forgotten
      std::vector<std::vector<std::uint16_t>> all(segments);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (std::size_t segment = 0; segment < segments; ++segment) {
          all[segment].push_back(static_cast<std::uint16_t>(draw(engine)));
          bins.add(segment, rank, all[segment].back());
        }
      }
      for (std::size_t segment = 0; segment < segments; ++segment) {
        std::sort(all[segment].begin(), all[segment].end());
        const std::pair middle{all[segment][(ranks - 1) / 2], all[segment][ranks / 2]};
        ASSERT_EQ(bins.take_middle(segment), middle) << ranks << " ranks";
      }
    }
  }
}

TEST(Merging, TellsSegmentsApartInWhichRanksSharedTheSameWorkDifferently) {
  const Outcome<Profile> profile = merge_ranks(4, 10);
  ASSERT_TRUE(profile);
  const FeatureColumn& reads = profile->features[index_of(Feature::reads)];
  EXPECT_EQ(reads.bins, (std::vector<double>{2.0, 2.0}));  // two of four ranks, by turns
  EXPECT_NE(reads.bin_of(0), reads.bin_of(1));
  EXPECT_EQ(reads.bin_of(0), reads.bin_of(2));
}

TEST(Merging, SaysHowTheRanksBoundariesDifferAndKeepsNoSegments) {
  const Outcome<Profile> profile = merge_ranks(3, 10, [](int rank, RankRecording& recording) {
    if (rank == 2) recording.boundary_kinds = 8;
  });
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->disagreement, "rank 2 passed other kinds of boundaries than rank 0");
  EXPECT_EQ(profile->segments, 0u);
}

TEST(Merging, SaysWhichRankPassedHowManyBoundariesAndWhereIntmIsMissing) {
  std::unique_ptr<SimulatedRank> shorter = std::make_unique<SimulatedRank>(1, 3, 9);
  Outcome<Profile> profile = merge_ranks(3, 10, [&](int rank, RankRecording& recording) {
    if (rank == 1) recording.store = &shorter->store;
  });
  ASSERT_TRUE(profile) << profile.failure().message;
  EXPECT_EQ(profile->disagreement, "rank 1 passed 8 boundaries, rank 0 passed 9");
  EXPECT_EQ(profile->segments, 0u);
  SegmentStore with_intm(10, true);
  for (std::size_t segment = 0; segment < 10; ++segment) with_intm.push(row_of(2, 3, segment));
  with_intm.settle();
  profile = merge_ranks(3, 10, [&](int rank, RankRecording& recording) {
    if (rank == 2) recording.store = &with_intm;
  });
  ASSERT_TRUE(profile) << profile.failure().message;
  EXPECT_EQ(profile->disagreement, "libintm.so is loaded into some ranks only");
  EXPECT_EQ(profile->segments, 0u);
}

TEST(Merging, KeepsTheSegmentsThatAllRanksStillHave) {
  const Outcome<Profile> profile = merge_ranks(3, 10, [](int rank, RankRecording& recording) {
    if (rank == 1) recording.segments = 6;
  });
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->segments, 6u);
  EXPECT_EQ(profile->dropped_segments, 4u);
}

TEST(Merging, HasNoComputeFeatureWhereTheRanksCountersDiffer) {
  const Outcome<Profile> profile = merge_ranks(2, 10, [](int rank, RankRecording& recording) {
    if (rank == 1) recording.facts.counter = "cpu";
  });
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->counter, "none");
  EXPECT_EQ(profile->segments, 10u);
}

TEST(Merging, GivesTheSameWhereOneProcessHasTheRecordsOfAllRanks) {
  constexpr int ranks = 5;
  constexpr std::size_t segments = 20;
  std::vector<std::unique_ptr<SimulatedRank>> all;
  std::vector<RankRecords> records;
  std::vector<std::uint32_t> numbers;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(std::make_unique<SimulatedRank>(rank, ranks, segments));
    records.push_back({.store = &all.back()->store, .sites = all.back()->recording.sites, .compute_scale = 1.0});
    numbers.push_back(static_cast<std::uint32_t>(rank));
  }
  const Alone alone;
  OwnNames own;
  for (const RankRecords& rank : records) own.add(rank);
  const ProgramNames names = merge_names(alone, own);
  const RowLayout layout(false, names.active.size());
  Merger merger(names, numbers, {}, false, segments);
  std::vector<std::byte> rows(layout.bytes() * records.size());
  for (std::size_t segment = 0; segment < segments; ++segment) {
    for (std::size_t rank = 0; rank < records.size(); ++rank) {
      RowWriter(names, records[rank], layout).write(segment, rows.data() + rank * layout.bytes());
    }
    merger.add(rows.data(), layout.bytes(), layout);
  }
  const Profile by_one = merger.finish(alone);
  const Outcome<Profile> by_many = merge_ranks(ranks, segments);
  ASSERT_TRUE(by_many);
  EXPECT_TRUE(by_one.lost_to_more_work.empty());  // the ranks were not compared
  EXPECT_EQ(by_one.duration, by_many->duration);
  EXPECT_EQ(by_one.last_rank, by_many->last_rank);
  EXPECT_EQ(by_one.boundary_wait, by_many->boundary_wait);
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    EXPECT_EQ(by_one.features[feature].bins, by_many->features[feature].bins);
    EXPECT_EQ(by_one.features[feature].index, by_many->features[feature].index);
  }
  EXPECT_EQ(by_one.last_rank_work.bins, by_many->last_rank_work.bins);
  EXPECT_EQ(by_one.last_rank_work.index, by_many->last_rank_work.index);
}

}  // namespace
