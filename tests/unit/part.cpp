// Parts: what a rank has spilled is what it recorded, and a damaged part is refused or read, but breaks nothing.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/run_facts.hpp"
#include "libprofile/record/store/tail.hpp"
#include "libprofile/recover/recover.hpp"
#include "tests/unit/stored_segments.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;
namespace fs = std::filesystem;

// From none, when the one before is full and still open, to all but one.
constexpr std::size_t sizes_of_last_block[] = {0, 1, 100, 2000, SegmentStore::block_size - 1};

// Returns the limit before.
rlimit limit_files_to(std::uintmax_t bytes) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit less{bytes, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &less);
  return before;
}

class Part : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "halcyon-part-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    figures_.run_time = 1.0;
    figures_.nanoseconds_per_tick = 0.5;
    const RunFacts facts{.recorder_version = "0", .command = "./app", .counter = "cpu", .compute_units = "ns"};
    PartHeader header;
    header.run = 7;
    header.ranks = 1;
    part_.place(directory_ / "run.h5.parts", "0.part", header, pack_facts(facts), most_in_tail);
  }
  void TearDown() override { fs::remove_all(directory_); }

  void record(SegmentStore& store, std::size_t segments) {
    for (std::size_t i = 0; i < segments; ++i) {
      SegmentRow row;
      row[Measure::duration] = static_cast<double>(1000 + i);
      row.features[index_of(Feature::compute)] = draw_(engine_);
      store.push(row);
    }
  }
  void write_tail_of(const SegmentStore& store, PartEnd end = part_is_running) {
    std::vector<std::byte> tail(most_in_tail);
    const std::vector<CallSite> sites{{nullptr, Boundary::barrier, "barrier@app+0x1"}};
    const std::vector<Module> modules{{"app", "/opt/app", "abcd"}};
    ASSERT_TRUE(part_.write_tail(tail.data(), write_tail(tail.data(), figures_, end, store, sites, modules)));
  }
  // The first segments of `store`, which is settled.
  void expect_part_has(const SegmentStore& store, std::size_t segments) const {
    PartFile again;
    PartFile::open_for_reading(file(), again);
    const ReadTail read = read_tail(again.read_tail(), again);
    read.segments->settle();
    ASSERT_EQ(read.segments->size(), segments);
    ASSERT_EQ(read.modules.size(), 1u);
    EXPECT_EQ(read.modules.front().path + read.modules.front().build_id, "/opt/appabcd");
    for (std::size_t i = 0; i < segments; ++i) {
      ASSERT_EQ(read.segments->get(i)[Measure::duration], store.get(i)[Measure::duration]);
      ASSERT_EQ(compute_of(*read.segments, i), compute_of(store, i)) << "segment " << i;
    }
  }
  fs::path file() const { return directory_ / "run.h5.parts" / "0.part"; }
  Outcome<Recovered> recover_it() const {
    const Outcome<std::vector<RunParts>> runs = find_parts({file()});
    if (!runs) return runs.failure();
    return recover(runs->front(), directory_ / "run.h5");
  }

  fs::path directory_;
  RankFigures figures_{};
  PartFile part_;
  std::mt19937 engine_{7};
  std::lognormal_distribution<> draw_{10.0, 2.0};
};

TEST_F(Part, GivesBackWhatTheRankHadRecorded) {
  for (const std::size_t in_last_block : sizes_of_last_block) {
    SegmentStore store(3 * SegmentStore::block_size, false, &part_);
    record(store, 2 * SegmentStore::block_size + in_last_block);
    ASSERT_TRUE(store.spill());
    write_tail_of(store);
    store.settle();
    expect_part_has(store, store.size());
  }
}

TEST_F(Part, GivesBackWhatIsSpilledWhileTheRanksAreMerged) {
  for (const std::size_t in_last_block : sizes_of_last_block) {
    SegmentStore store(3 * SegmentStore::block_size, false, &part_);
    record(store, 2 * SegmentStore::block_size + in_last_block);
    store.settle();
    ASSERT_TRUE(store.spill());
    write_tail_of(store);
    expect_part_has(store, store.size());
  }
}

TEST_F(Part, GivesBackTheBlocksBeforeOneThatTheDiskDidNotTake) {
  SegmentStore store(4 * SegmentStore::block_size, false, &part_);
  record(store, SegmentStore::block_size + 1);
  ASSERT_TRUE(store.spill());
  const rlimit all = limit_files_to(fs::file_size(file()));
  record(store, 2 * SegmentStore::block_size);
  EXPECT_FALSE(store.spill());
  write_tail_of(store);
  setrlimit(RLIMIT_FSIZE, &all);
  store.settle();
  expect_part_has(store, SegmentStore::block_size);
}

TEST_F(Part, TakesBlocksThatMemoryHasNoRoomFor) {
  const std::size_t count = 5 * SegmentStore::block_size + 100;
  SegmentStore little(SegmentStore::block_size, false, &part_);
  SegmentStore ample(count, false);
  record(little, count);
  engine_.seed(7);
  draw_.reset();
  record(ample, count);
  little.settle();
  ample.settle();
  ASSERT_EQ(little.size(), count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(compute_of(little, i), compute_of(ample, i)) << "segment " << i;
}

// Ranks would match the n-th of one with the n-th of another, whatever is missing between.
TEST_F(Part, LeavesNoGapWhereTheDiskHasRoomAgainForASegment) {
  SegmentStore store(SegmentStore::block_size, false, &part_);
  const rlimit all = limit_files_to(0);
  record(store, SegmentStore::block_size + 1);
  setrlimit(RLIMIT_FSIZE, &all);
  record(store, 1);
  EXPECT_EQ(store.size(), SegmentStore::block_size);
  EXPECT_EQ(store.dropped(), 2u);
}

TEST_F(Part, IsReadFromItsOlderTailWhereTheNewerIsTorn) {
  SegmentStore store(1000, false, &part_);
  record(store, 10);
  write_tail_of(store);
  record(store, 5);
  write_tail_of(store);
  EXPECT_EQ(recover_it()->segments, 15u);
  fs::remove(directory_ / "run.h5");
  // The second place for a tail, cut off behind its beginning.
  fs::resize_file(file(), (part_.header().tails_at + part_.header().blocks_at) / 2 + 100);
  EXPECT_EQ(recover_it()->segments, 10u);
}

TEST_F(Part, SaysHowTheRunEnded) {
  SegmentStore store(1000, false, &part_);
  record(store, 10);
  write_tail_of(store, static_cast<PartEnd>(15));
  EXPECT_EQ(recover_it()->exit_state, "signal 15");
}

TEST_F(Part, ThatIsDamagedAnywhereIsRefusedOrReadAndBreaksNothing) {
  SegmentStore store(10000, false, &part_);
  record(store, SegmentStore::block_size + 50);
  ASSERT_TRUE(store.spill());
  write_tail_of(store);
  std::string whole;
  {
    std::ifstream in(file(), std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto check = [this](const std::string& bytes) {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
    if (const Outcome<Recovered> recovered = recover_it()) {
      EXPECT_TRUE(read_profile(recovered->profile)) << read_profile(recovered->profile).failure().message;
      fs::remove(recovered->profile);
    }
  };
  const std::size_t tails = part_.header().tails_at;
  const auto damage = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(~bytes[at]);
    check(bytes);
  };
  for (std::size_t at = 0; at < part_beginning_size + 20; at += 5) damage(at);
  for (std::size_t at = tails; at < tails + 200; at += 40) damage(at);
  for (std::size_t at = part_.header().blocks_at; at < whole.size(); at += 20011) damage(at);
  for (std::size_t size = 0; size < whole.size(); size += 50021) check(whole.substr(0, size));
}

}  // namespace
