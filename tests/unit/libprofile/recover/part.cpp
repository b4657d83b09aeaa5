// Parts: what a rank has spilled is what it recorded, and a damaged part is refused or read, but breaks nothing.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/run_facts.hpp"
#include "libprofile/record/store/tail.hpp"
#include "libprofile/recover/recover.hpp"
#include "tests/unit/stored_segments.hpp"
#include "tests/unit/temporary_directory.hpp"

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
    figures_.run_time = 1.0;
    figures_.nanoseconds_per_tick = 0.5;
    const RunFacts facts{.recorder_version = "0", .command = "./app", .counter = "cpu", .compute_units = "ns"};
    PartHeader header;
    header.run = 7;
    header.ranks = 1;
    part_.place(directory_ / "run.h5.parts", "7", header, pack_facts(facts), most_in_tail);
  }

  void record(SegmentStore& store, std::size_t segments) {
    for (std::size_t i = 0; i < segments; ++i) {
      SegmentRow row;
      row[Measure::duration] = static_cast<double>(1000 + i);
      row.features[index_of(Feature::compute)] = draw_(engine_);
      store.push(row);
    }
  }
  void write_tail_of(const SegmentStore& store, PartEnd end = part_is_running) { write_tail_into(part_, store, end); }
  void write_tail_into(PartFile& part, const SegmentStore& store, PartEnd end = part_is_running) const {
    std::vector<std::byte> tail(most_in_tail);
    const std::vector<CallSite> sites{{nullptr, Boundary::barrier, "barrier@app+0x1"}};
    const std::vector<Module> modules{{"app", "/opt/app", "abcd"}};
    ASSERT_TRUE(part.write_tail(tail.data(), write_tail(tail.data(), figures_, end, store, sites, modules)));
  }
  // One rank of several, which share files.
  void place_rank(PartFile& part, std::uint32_t rank, std::uint32_t ranks) const {
    PartHeader header;
    header.run = 7;
    header.rank = rank;
    header.ranks = ranks;
    const RunFacts facts{.recorder_version = "0", .command = "./app", .counter = "cpu", .compute_units = "ns"};
    part.place(directory_ / "run.h5.parts", "7", header, pack_facts(facts), most_in_tail);
  }
  // Writes parts of so many ranks with so many segments each.
  void write_parts(std::uint32_t ranks, std::size_t segments) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      PartFile part;
      place_rank(part, rank, ranks);
      SegmentStore store(segments, false, &part);
      record(store, segments);
      ASSERT_TRUE(store.spill());
      write_tail_into(part, store);
    }
  }
  // Where a block of this rank begins in its file.
  static std::uint64_t place_of_block(const PartHeader& header, std::uint64_t block) {
    const std::uint64_t piece = header.blocks_at / part_piece + block;
    return (piece * header.ranks_in_file() + header.place_in_file()) * part_piece;
  }
  void overwrite(std::uint64_t at, const std::string& bytes) const {
    std::fstream(file(), std::ios::binary | std::ios::in | std::ios::out).seekp(static_cast<std::streamoff>(at))
        << bytes;
  }
  char byte_at(std::uint64_t at) const {
    std::ifstream in(file(), std::ios::binary);
    return static_cast<char>(in.seekg(static_cast<std::streamoff>(at)).get());
  }
  /// Records so many segments, and writes all closed blocks and the tail.
  void spill_with_tail(SegmentStore& store, std::size_t segments) {
    record(store, segments);
    ASSERT_TRUE(store.spill());
    write_tail_of(store);
  }
  // The first segments of `store`, which is settled.
  void expect_part_has(const SegmentStore& store, std::size_t segments) const {
    PartFile again;
    PartFile::open_for_reading(file(), 0, again);
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
  /// The file of the first 64 ranks; its name has that of this host.
  fs::path file() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_ / "run.h5.parts")) {
      if (entry.path().string().ends_with("-000000.part")) return entry.path();
    }
    return "no file of the first ranks";
  }
  Outcome<Recovered> recover_it() const { return recover_from(file()); }
  Outcome<Recovered> recover_from(const fs::path& path) const {
    const Outcome<std::vector<RunParts>> runs = find_parts({path});
    if (!runs) return runs.failure();
    return recover(runs->front(), directory_ / "run.h5");
  }

  TemporaryDirectory temporary_;
  fs::path directory_ = temporary_.path();
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

// The bins at the end of a run do not say what the slots in an earlier block were: it has its own.
TEST_F(Part, KeepsWhatIsBeforeADamagedBlock) {
  const std::size_t block = SegmentStore::block_size;
  SegmentStore store(5 * block, false, &part_);
  spill_with_tail(store, 4 * block + 50);
  engine_.seed(7);
  draw_.reset();
  SegmentStore shorter(2 * block, false);
  record(shorter, 2 * block);
  shorter.settle();
  const std::uint64_t at = place_of_block(part_.header(), 2);
  const std::size_t bytes = sizeof(std::uint64_t) + bytes_before_maps(false);
  std::vector<std::pair<std::uint64_t, std::string>> damages{{at, std::string(bytes, '\0')}};  // a host that went down
  for (std::size_t i = 0; i < bytes; i += 30011) {
    damages.push_back({at + i, std::string(1, static_cast<char>(byte_at(at + i) ^ 1))});  // a bit that flipped
  }
  std::string whole(bytes, '\0');
  std::ifstream(file(), std::ios::binary).seekg(static_cast<std::streamoff>(at)).read(whole.data(), bytes);
  for (const auto& [place, damage] : damages) {
    overwrite(at, whole);
    overwrite(place, damage);
    const Outcome<Recovered> recovered = recover_it();
    ASSERT_TRUE(recovered) << recovered.failure().message;
    EXPECT_EQ(recovered->segments, 2 * block);
    EXPECT_EQ(recovered->incomplete,
              "block 2 of rank 0 in " + file().string() + " is damaged, so it lacks 8242 segments");
    const Outcome<Profile> profile = read_profile(recovered->profile);
    ASSERT_TRUE(profile);
    const FeatureColumn& compute = profile->features[index_of(Feature::compute)];
    for (std::size_t i = 0; i < 2 * block; ++i) {
      const double value = 0.5 * compute_of(shorter, i);
      ASSERT_NEAR(compute.bins[compute.bin_of(i)], value, 1e-6 * value) << "segment " << i;
    }
    fs::remove(recovered->profile);
  }
}

TEST_F(Part, KeepsWhatIsBeforeTheEndOfAFileThatWasCutOff) {
  const std::size_t block = SegmentStore::block_size;
  SegmentStore store(5 * block, false, &part_);
  spill_with_tail(store, 3 * block + 50);
  for (const std::uint64_t more : {std::uint64_t{0}, std::uint64_t{100}, part_piece}) {
    fs::resize_file(file(), place_of_block(part_.header(), 2) - more);
    const Outcome<Recovered> recovered = recover_it();
    ASSERT_TRUE(recovered) << recovered.failure().message;
    EXPECT_EQ(recovered->segments, more == part_piece ? block : 2 * block);
    fs::remove(recovered->profile);
  }
}

TEST_F(Part, DoesNotTakeABlockOfAnotherPlaceForItsOwn) {
  const std::size_t block = SegmentStore::block_size;
  SegmentStore store(3 * block, false, &part_);
  spill_with_tail(store, 2 * block + 50);
  std::string first(part_piece, '\0');
  std::ifstream(file(), std::ios::binary)
      .seekg(static_cast<std::streamoff>(place_of_block(part_.header(), 0)))
      .read(first.data(), static_cast<std::streamsize>(first.size()));
  overwrite(place_of_block(part_.header(), 1), first);
  EXPECT_EQ(recover_it()->segments, block);
}

TEST_F(Part, SharesAFileWithThoseOfOtherRanks) {
  constexpr std::uint32_t ranks = 2 * ranks_per_file + 3;
  constexpr std::size_t segments = SegmentStore::block_size + 10;
  write_parts(ranks, segments);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_ / "run.h5.parts"), {}), 3);
  const Outcome<Recovered> whole = recover_from(directory_ / "run.h5.parts");
  ASSERT_TRUE(whole) << whole.failure().message;
  EXPECT_EQ(whole->segments, segments);
  EXPECT_EQ(whole->ranks_found, static_cast<int>(ranks));
  EXPECT_EQ(whole->incomplete, "");
  fs::remove(whole->profile);

  PartHeader header;
  header.rank = 5;
  header.ranks = ranks;
  header.blocks_at = part_.header().blocks_at;
  overwrite(place_of_block(header, 0) + 1000, "damage");
  const Outcome<Recovered> damaged = recover_from(directory_ / "run.h5.parts");
  ASSERT_TRUE(damaged) << damaged.failure().message;
  EXPECT_EQ(damaged->segments, segments);
  EXPECT_NE(damaged->incomplete.find("block 0 of rank 5"), std::string::npos) << damaged->incomplete;
  fs::remove(damaged->profile);

  overwrite(5 * part_piece + 20, "damage");
  const Outcome<Recovered> without = recover_from(directory_ / "run.h5.parts");
  ASSERT_TRUE(without) << without.failure().message;
  EXPECT_EQ(without->segments, segments);
  EXPECT_TRUE(without->incomplete.starts_with("rank 5 of 131 left nothing; ")) << without->incomplete;
}

TEST_F(Part, IsToldOfByTheRankOfItsFileThatAsksFirst) {
  SegmentStore store(1000, false, nullptr);
  record(store, 10);
  PartFile other;
  PartFile first;
  place_rank(other, 1, 2);
  place_rank(first, 0, 2);
  EXPECT_FALSE(other.is_first_to_tell());  // nothing is written
  write_tail_into(other, store, part_is_running);
  EXPECT_TRUE(other.is_first_to_tell());
  EXPECT_FALSE(other.is_first_to_tell());
  write_tail_into(first, store, part_is_running);  // whose beginning is around the byte
  EXPECT_FALSE(first.is_first_to_tell());
  const Outcome<Recovered> recovered = recover_from(directory_ / "run.h5.parts");
  ASSERT_TRUE(recovered) << recovered.failure().message;
  EXPECT_EQ(recovered->ranks_found, 2);
}

TEST_F(Part, WithADamagedBlockIsLeftOutIfItWouldCostTheOthersMoreThanItHas) {
  constexpr std::size_t block = SegmentStore::block_size;
  struct Case {
    std::uint32_t ranks;
    std::uint64_t damaged_block;  // of rank 1, of three
    std::uint64_t segments;
    const char* lost;
  };
  for (const Case& one : {Case{2, 2, 2 * block, " is damaged, so it lacks 4106 segments; only some ranks saved 4106 "},
                          Case{2, 0, 3 * block + 10, " is damaged, so its segments are left out"},
                          Case{4, 2, 3 * block + 10, " is damaged, so its segments are left out"}}) {
    fs::remove_all(directory_ / "run.h5.parts");
    write_parts(one.ranks, 3 * block + 10);
    PartHeader header;
    header.rank = 1;
    header.ranks = one.ranks;
    header.blocks_at = part_.header().blocks_at;
    overwrite(place_of_block(header, one.damaged_block) + 1000, "damage");
    const Outcome<Recovered> recovered = recover_from(directory_ / "run.h5.parts");
    ASSERT_TRUE(recovered) << recovered.failure().message;
    EXPECT_EQ(recovered->segments, one.segments);
    EXPECT_EQ(recovered->ranks_found, static_cast<int>(one.ranks));
    EXPECT_TRUE(recovered->has_damage);
    EXPECT_NE(recovered->incomplete.find(one.lost), std::string::npos) << recovered->incomplete;
    fs::remove(recovered->profile);
  }
}

TEST_F(Part, IsRecoveredBesideFilesThatAreNone) {
  write_parts(2, 100);
  const fs::path parts = directory_ / "run.h5.parts";
  std::ofstream(parts / "zeros.part") << std::string(part_piece, '\0');
  fs::create_directory(parts / "directory.part");
  const Outcome<Recovered> recovered = recover_from(parts);
  ASSERT_TRUE(recovered) << recovered.failure().message;
  EXPECT_EQ(recovered->segments, 100u);
  EXPECT_NE(recovered->incomplete.find("zeros.part"), std::string::npos) << recovered->incomplete;
}

TEST_F(Part, IsRecoveredFromMoreFilesThanMayBeOpen) {
  constexpr std::uint32_t ranks = 20 * ranks_per_file;
  write_parts(ranks, 3);
  const auto open_now = std::distance(fs::directory_iterator("/proc/self/fd"), {});
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{static_cast<rlim_t>(open_now) + 8, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  const Outcome<Recovered> recovered = recover_from(directory_ / "run.h5.parts");
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(recovered) << recovered.failure().message;
  EXPECT_EQ(recovered->ranks_found, static_cast<int>(ranks));
  EXPECT_EQ(recovered->incomplete, "");
}

TEST_F(Part, IsMergedInBatchesOfSegments) {
  const std::size_t many = 31 * SegmentStore::block_size + 5;  // more than are open at a time
  write_parts(2, many);
  const Outcome<Recovered> recovered = recover_from(directory_ / "run.h5.parts");
  ASSERT_TRUE(recovered) << recovered.failure().message;
  const Outcome<Profile> profile = read_profile(recovered->profile);
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->segments, many);
  for (std::size_t i = 0; i < many; i += 97) {
    const double seconds = 0.5e-9 * static_cast<double>(1000 + i);
    ASSERT_NEAR(profile->duration[i], seconds, 1e-6 * seconds) << "segment " << i;
  }
}

TEST_F(Part, OfAnotherVersionIsRefusedByItsNumber) {
  SegmentStore store(1000, false, &part_);
  record(store, 10);
  write_tail_of(store);
  overwrite(part_magic.size(), std::string("\4\0\0\0", 4));
  const Outcome<Recovered> recovered = recover_it();
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.failure().message, file().string() +
                                             " was written by another version of Halcyon (parts of version 4, not " +
                                             std::to_string(part_version) + "); recover it with that version");
}

TEST_F(Part, IsNotWrittenOverOneThatIsThere) {
  SegmentStore store(1000, false, &part_);
  record(store, 10);
  write_tail_of(store);
  PartFile again;
  place_rank(again, 0, 1);
  std::vector<std::byte> tail(most_in_tail);
  EXPECT_FALSE(again.write_tail(tail.data(), tail.size()));
  EXPECT_EQ(recover_it()->segments, 10u);
}

TEST_F(Part, IsNotWrittenWhereAnotherUserMayReplaceIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  constexpr uid_t nobody = 65534;
  const fs::path parts = directory_ / "run.h5.parts";
  fs::create_directory(parts);
  ASSERT_EQ(chown(parts.c_str(), nobody, nobody), 0);
  SegmentStore store(SegmentStore::block_size, false, &part_);
  record(store, 2 * SegmentStore::block_size);
  EXPECT_FALSE(store.spill());
  EXPECT_TRUE(fs::is_empty(parts));
  // Nor through a link to such a directory.
  fs::rename(parts, directory_ / "theirs");
  fs::create_directory_symlink(directory_ / "theirs", parts);
  EXPECT_FALSE(store.spill());
  EXPECT_TRUE(fs::is_empty(parts));
}

TEST_F(Part, SaysHowTheRunEnded) {
  SegmentStore store(1000, false, &part_);
  record(store, 10);
  write_tail_of(store, static_cast<PartEnd>(15));
  EXPECT_EQ(recover_it()->exit_state, "signal 15");
}

TEST_F(Part, ThatIsDamagedAnywhereIsRefusedOrReadAndBreaksNothing) {
  SegmentStore store(10000, false, &part_);
  spill_with_tail(store, SegmentStore::block_size + 50);
  std::string whole;
  {
    std::ifstream in(file(), std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  int were_read = 0;
  int were_refused = 0;
  const auto check = [&](const std::string& bytes) {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
    if (const Outcome<Recovered> recovered = recover_it()) {
      ++were_read;
      EXPECT_TRUE(read_profile(recovered->profile)) << read_profile(recovered->profile).failure().message;
      fs::remove(recovered->profile);
    } else {
      ++were_refused;
      EXPECT_NE(recovered.failure().message, "");
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
  EXPECT_GT(were_read, 0);
  EXPECT_GT(were_refused, 0);
}

}  // namespace
