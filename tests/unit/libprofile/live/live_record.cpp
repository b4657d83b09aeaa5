// Live records: what a rank publishes is what a reader sees, whatever happens to the file; and a suspension ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "libprofile/live/reader.hpp"
#include "libprofile/live/suspender.hpp"
#include "libprofile/live/writer.hpp"
#include "libprofile/system/nanoseconds.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::live;
namespace fs = std::filesystem;

constexpr std::uint64_t second = 1'000'000'000;

using Features = std::array<double, feature_count>;

Features with_sends(double sends, double bytes = 0.0) {
  Features values{};
  values[index_of(Feature::sends_blocking)] = sends;
  values[index_of(Feature::bytes_sent)] = bytes;
  return values;
}

// A tick is a nanosecond.
Measured<double> computing(double nanoseconds) {
  Measured<double> ticks{};
  ticks[index_of(Measure::duration)] = nanoseconds;
  return ticks;
}

class LiveRecord : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/dev/shm/halcyon-live-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void join(Writer& writer, int rank = 0, int ranks = 2, const std::string& record = "run") const {
    writer.join({.record = record, .job = "17.0", .command = "./app input", .rank = rank, .ranks = ranks}, root_);
  }
  void publish(Writer& writer) const {
    writer.publish({.last_end = nanoseconds_of(CLOCK_MONOTONIC), .counted = &counted_});
  }
  std::string directory() const { return directory_of_records(root_); }
  std::string file() const { return directory() + "/run"; }

  Outcome<JobNow> read() const {
    const Outcome<Reader> reader = Reader::open(file());
    if (!reader) return reader.failure();
    return reader->read();
  }
  void expect_refused(const std::string& why) const {
    const Outcome<JobNow> job = read();
    ASSERT_FALSE(job);
    EXPECT_NE(job.failure().message.find(why), std::string::npos) << job.failure().message;
  }
  template <class T>
  void overwrite(std::size_t offset, const T& value) const {
    std::fstream out(file(), std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(offset));
    out.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  // What readers see of a rank whose process has ended.
  void kill_rank(std::size_t slot) const {
    overwrite(offset_of_slot(slot) + offsetof(Slot, owner.start_time), std::uint64_t{1});
  }
  // A process that does this and is killed.
  template <class Work>
  void die_after(const Work& work) const {
    const pid_t process = fork();
    if (process == 0) {
      work();
      raise(SIGKILL);
    }
    waitpid(process, nullptr, 0);
  }
  void leave_record_of_killed_job(const std::string& record) const {
    die_after([&] {
      Writer writer;
      join(writer, 0, 2, record);
    });
    ASSERT_TRUE(fs::exists(directory() + "/" + record));
  }

  std::string root_;
  std::array<std::uint64_t, feature_count> counted_{};
};

TEST_F(LiveRecord, ShowsWhatARankHasPublished) {
  Writer writer;
  join(writer, 1, 4);
  ASSERT_TRUE(writer.is_on());
  counted_[index_of(Feature::bytes_sent)] = 100;
  counted_[index_of(Feature::bytes_written)] = 7;
  for (int i = 0; i < 8; ++i) writer.add(computing(1e6), with_sends(2), 0, "barrier@app+0x10");
  publish(writer);
  const Outcome<JobNow> job = read();
  ASSERT_TRUE(job) << job.failure().message;
  EXPECT_EQ(job->job, "17.0");
  EXPECT_EQ(job->command, "./app input");
  EXPECT_EQ(job->ranks, 4u);
  EXPECT_EQ(job->launcher, getppid());
  EXPECT_TRUE(job->is_alive());
  ASSERT_EQ(job->here.size(), 1u);
  const RankNow& rank = job->here.front();
  EXPECT_EQ(rank.rank, 1u);
  EXPECT_EQ(rank.process, getpid());
  EXPECT_TRUE(rank.is_alive);
  EXPECT_EQ(rank.state, State::running);
  EXPECT_EQ(rank.boundaries, 8u);
  EXPECT_EQ(rank.totals.segments, 8u);
  EXPECT_EQ(rank.totals.message_bytes, 100u);
  EXPECT_EQ(rank.totals.file_bytes, 7u);
  EXPECT_NEAR(rank.totals.seconds, 8e-3, 1e-12);
  EXPECT_NEAR(rank.totals.usual_seconds, 8e-3, 1e-12);
  EXPECT_EQ(rank.last_place, "barrier@app+0x10");
  ASSERT_EQ(rank.kinds.size(), 1u);
  EXPECT_EQ(rank.kinds.front().place, "barrier@app+0x10");
  EXPECT_EQ(rank.kinds.front().bins[bins_below_first], 8u);
  EXPECT_EQ(rank.kinds.front().first_bin + bins_below_first, bin_of(1e6));
}

TEST_F(LiveRecord, HasASlotForEachRankAndGoesWithTheLastOne) {
  Writer first;
  Writer other;
  join(first, 0);
  join(other, 1);
  ASSERT_TRUE(first.is_on() && other.is_on());
  ASSERT_EQ(read()->here.size(), 2u);
  EXPECT_EQ(read()->here[1].rank, 1u);
  first.leave();
  first.leave();  // a signal may come in MPI_Finalize
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->here[0].state, State::ended);
  other.leave();
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(LiveRecord, HasNoPlaceForAnotherJobOfTheSameName) {
  Writer writer;
  Writer other;
  Writer too_many;
  join(writer, 0, 1);
  join(other, 0, 3);
  join(too_many, 0, 1);
  EXPECT_TRUE(writer.is_on());
  EXPECT_FALSE(other.is_on());
  EXPECT_FALSE(too_many.is_on());
  EXPECT_EQ(read()->here.size(), 1u);
}

TEST_F(LiveRecord, OfAKilledJobIsRemovedByTheNextReader) {
  leave_record_of_killed_job("run");
  EXPECT_FALSE(read()->is_alive());
  EXPECT_TRUE(find_records(root_)->empty());
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(LiveRecord, ThatNoJobHasIsRemovedWhateverIsInIt) {
  Writer writer;
  join(writer, 0, 2, "living");
  const auto damaged = [&](auto damage) {
    leave_record_of_killed_job("run");
    damage();
    EXPECT_EQ(*find_records(root_), std::vector<std::string>{directory() + "/living"});
  };
  damaged([&] { fs::resize_file(file(), 0); });
  damaged([&] { fs::resize_file(file(), 100); });
  damaged([&] { fs::resize_file(file(), header_bytes + 100); });
  damaged([&] { overwrite(0, 'X'); });
  damaged([&] { overwrite(offsetof(Header, version), layout_version + 1); });
  damaged([&] { overwrite(offsetof(Header, slots), most_slots + 1); });
  damaged([&] { overwrite(offset_of_slot(0) + offsetof(Slot, owner), Owner{getpid(), 0, 0}); });
}

TEST_F(LiveRecord, ThatAJobHasStaysWhateverIsInIt) {
  Writer writer;
  join(writer, 0, 1);
  const auto damaged = [&](auto damage) {
    damage();
    EXPECT_EQ(find_records(root_)->size(), 1u);
    Writer other;
    join(other, 0, 1, "other");  // it removes those of jobs that were killed
    EXPECT_TRUE(fs::exists(file()));
    other.leave();
  };
  damaged([&] { kill_rank(0); });  // as it is seen from another name space of processes
  damaged([&] { overwrite(offsetof(Header, version), layout_version + 1); });
  damaged([&] { overwrite(0, 'X'); });
  damaged([&] { fs::resize_file(file(), header_bytes + 100); });
  damaged([&] { fs::resize_file(file(), 100); });
  damaged([&] { fs::resize_file(file(), 0); });
  Writer next;
  join(next, 0, 1);
  EXPECT_FALSE(next.is_on());
}

TEST_F(LiveRecord, OfAnotherUserStays) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  leave_record_of_killed_job("run");
  ASSERT_EQ(chown(file().c_str(), 1, 1), 0);
  EXPECT_EQ(find_records(root_)->size(), 1u);
}

TEST_F(LiveRecord, OfAKilledJobMakesWayForTheNextJob) {
  leave_record_of_killed_job("run");
  leave_record_of_killed_job("other");
  Writer next;
  join(next, 1, 3);
  ASSERT_TRUE(next.is_on());
  EXPECT_EQ(read()->here.size(), 1u);
  EXPECT_EQ(read()->ranks, 3u);
  EXPECT_EQ(find_records(root_)->size(), 1u);
}

TEST_F(LiveRecord, IsWholeWheneverItIsRead) {
  Writer writer;
  join(writer);
  std::atomic<bool> goes_on{true};
  std::thread rank([&] {
    while (goes_on.load()) {
      for (int i = 0; i < 1000; ++i) writer.add(computing(1e6), with_sends(1), 0, "barrier");
      publish(writer);
    }
  });
  std::uint64_t segments = 0;
  int whole = 0;
  for (int i = 0; i < 1000; ++i) {
    const Outcome<JobNow> job = read();
    if (!job) continue;  // the rank publishes far more often than a real one
    ++whole;
    const Totals& totals = job->here.front().totals;
    EXPECT_GE(totals.segments, segments);
    segments = totals.segments;
    EXPECT_NEAR(totals.seconds, 1e-3 * static_cast<double>(segments), 1e-9 * static_cast<double>(segments));
    EXPECT_NEAR(totals.parts[0], totals.seconds, 1e-9 * static_cast<double>(segments));
  }
  goes_on.store(false);
  rank.join();
  EXPECT_GT(whole, 0);
}

TEST_F(LiveRecord, ThatIsDamagedIsRefusedInOneSentence) {
  Writer writer;
  join(writer);
  publish(writer);
  const auto damaged = [&](auto damage, const std::string& why) {
    fs::copy_file(file(), root_ + "/whole");
    damage();
    expect_refused(why);
    fs::copy_file(root_ + "/whole", file(), fs::copy_options::overwrite_existing);
    fs::remove(root_ + "/whole");
    ASSERT_TRUE(read());
  };
  const std::size_t slot = offset_of_slot(0);
  damaged([&] { fs::resize_file(file(), 100); }, "is not a live record");
  damaged([&] { fs::resize_file(file(), header_bytes + 100); }, "is cut off");
  damaged([&] { overwrite(0, 'X'); }, "is not a live record");
  damaged([&] { overwrite(offsetof(Header, version), layout_version + 1); },
          "of version " + std::to_string(layout_version + 1));
  damaged([&] { overwrite(offsetof(Header, slots), 3u); }, "header contradicts itself");
  damaged([&] { overwrite(offsetof(Header, slot_bytes), 4096u); }, "header contradicts itself");
  damaged([&] { overwrite(slot + offsetof(Slot, owner.rank), 9u); }, "contradicts itself");
  damaged([&] { overwrite(slot + offsetof(Slot, owner.process), -1); }, "contradicts itself");
  damaged([&] { overwrite(slot + offsetof(Slot, state), 3u); }, "contradicts itself");
  const std::size_t totals = slot + offsetof(Slot, totals) + sizeof(Totals);  // those of the first time
  damaged([&] { overwrite(totals + offsetof(Totals, seconds), std::nan("")); }, "contradicts itself");
  damaged([&] { overwrite(totals + offsetof(Totals, parts), -1.0); }, "contradicts itself");
  damaged([&] { overwrite(totals + offsetof(Totals, last_place), 32u); }, "contradicts itself");
  damaged(
      [&] {
        overwrite(slot + offsetof(Slot, kinds), 1u);
        overwrite(slot + offsetof(Slot, kinds) + 8, 32u);
      },
      "contradicts itself");
}

class Published : public LiveRecord {
 protected:
  void SetUp() override {
    LiveRecord::SetUp();
    join(first_, 0, 3);
    join(second_, 2, 3);
    for (int i = 0; i < 8; ++i) {
      first_.add(computing(1e6), with_sends(i % 2), 0, "barrier@app+0x10");
      second_.add(computing(1e6), with_sends(1), 0, "barrier@app+0x10");
    }
    publish(first_);
    publish(second_);
  }
  std::string place() const { return root_ + "/job"; }
  void publish_all() const {
    fs::create_directory(place());
    const Outcome<Reader> reader = Reader::open(file());
    const Outcome<Publication> publication = reader->read_to_publish();
    ASSERT_TRUE(publication) << publication.failure().message;
    const Status written = publication->write_to(place());
    ASSERT_TRUE(written) << written.failure().message;
  }
  std::string name() const { return find_publications(place())->front(); }
  void expect_not_taken(const std::string& why) const {
    const Outcome<PublishedJob> job = read_publication(place(), name());
    ASSERT_FALSE(job);
    EXPECT_NE(job.failure().message.find(why), std::string::npos) << job.failure().message;
    EXPECT_NE(job.failure().message.find(place()), std::string::npos) << job.failure().message;
  }

  Writer first_;
  Writer second_;
};

TEST_F(Published, IsReadElsewhereAsItWasReadHere) {
  publish_all();
  const JobNow here = *read();
  ASSERT_EQ(find_publications(place())->size(), 1u);
  const Outcome<PublishedJob> published = read_publication(place(), name());
  ASSERT_TRUE(published) << published.failure().message;
  EXPECT_EQ(published->record, "run");
  EXPECT_EQ(name(), "run." + here.hosts.front().name + ".live");
  const JobNow& there = published->job;
  EXPECT_EQ(there.job, here.job);
  EXPECT_EQ(there.command, here.command);
  EXPECT_EQ(there.ranks, 3u);
  EXPECT_EQ(there.hosts.front().name, here.hosts.front().name);
  EXPECT_EQ(there.hosts.front().start_monotonic, here.hosts.front().start_monotonic);
  EXPECT_LE(there.hosts.front().read_monotonic, here.hosts.front().read_monotonic);
  ASSERT_EQ(there.here.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const RankNow& rank = there.here[i];
    EXPECT_EQ(rank.rank, here.here[i].rank);
    EXPECT_TRUE(rank.is_alive);
    EXPECT_EQ(rank.totals.last_end, here.here[i].totals.last_end);
    EXPECT_EQ(rank.last_place, "barrier@app+0x10");
    ASSERT_EQ(rank.kinds.size(), i == 0 ? 2u : 1u);
    EXPECT_EQ(rank.kinds.back().key, here.here[i].kinds.back().key);
    EXPECT_EQ(rank.kinds.back().bins, here.here[i].kinds.back().bins);
  }
}

TEST_F(Published, IsReplacedAndSaysThatARankHasDied) {
  publish_all();
  const std::uint64_t before = read_publication(place(), name())->published_at;
  kill_rank(0);
  publish_all();
  ASSERT_EQ(find_publications(place())->size(), 1u);
  const PublishedJob now = *read_publication(place(), name());
  EXPECT_GT(now.published_at, before);
  EXPECT_FALSE(now.job.here[0].is_alive);
  EXPECT_TRUE(now.job.here[1].is_alive);
  struct stat state {};
  ASSERT_EQ(stat((place() + "/" + name()).c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777u, 0600u);
}

TEST_F(Published, ThatIsDamagedIsRefusedInOneSentence) {
  const auto damaged = [&](auto damage, const std::string& why) {
    publish_all();
    damage(place() + "/" + name());
    expect_not_taken(why);
  };
  const auto overwritten = [&](std::size_t offset, auto value, const std::string& why) {
    damaged(
        [&](const std::string& path) {
          std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
          out.seekp(static_cast<std::streamoff>(offset));
          out.write(reinterpret_cast<const char*>(&value), sizeof value);
        },
        why);
  };
  const std::size_t header = sizeof(PublicationHeader);
  const std::size_t rank = header + sizeof(Header);
  const std::size_t slot = rank + sizeof(PublishedRank);
  for (const std::size_t size :
       {header, rank, slot, slot + offsetof(Slot, kinds), slot + offsetof(Slot, kinds) + 100}) {
    damaged([&](const std::string& path) { fs::resize_file(path, size); }, "is cut off");
  }
  damaged([](const std::string& path) { fs::resize_file(path, 0); }, "was not written by halcyon watch --publish");
  overwritten(0, 'X', "was not written by halcyon watch --publish");
  overwritten(offsetof(PublicationHeader, version), publication_version + 1, "has version 2");
  overwritten(offsetof(PublicationHeader, header_bytes), 4096u, "header contradicts itself");
  overwritten(header, 'X', "is not a live record");
  overwritten(header + offsetof(Header, version), layout_version + 1,
              "of version " + std::to_string(layout_version + 1));
  overwritten(header + offsetof(Header, user), geteuid() + 1, "header contradicts itself");
  overwritten(header + offsetof(Header, slots), 3u, "is cut off");
  overwritten(rank + offsetof(PublishedRank, kinds), 33u, "too many kinds");
  overwritten(slot + offsetof(Slot, owner.rank), 9u, "rank number 0 contradicts itself");
  damaged([](const std::string& path) { fs::permissions(path, fs::perms::group_read, fs::perm_options::add); },
          "others can read or write it");
  damaged(
      [this](const std::string& path) {
        fs::rename(path, root_ + "/elsewhere");
        fs::create_symlink(root_ + "/elsewhere", path);
      },
      "cannot open");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  damaged([](const std::string& path) { ASSERT_EQ(chown(path.c_str(), 1, 1), 0); }, "belongs to another user");
}

TEST_F(Published, NeedsADirectory) {
  EXPECT_FALSE(find_publications(place()));
  const Outcome<Reader> reader = Reader::open(file());
  const Status written = reader->read_to_publish()->write_to(place());
  ASSERT_FALSE(written);
  EXPECT_NE(written.failure().message.find(place()), std::string::npos);
}

TEST_F(LiveRecord, ThatOthersCanTouchIsNotRead) {
  Writer writer;
  join(writer);
  fs::permissions(file(), fs::perms::group_read, fs::perm_options::add);
  expect_refused("others can read or write it");
  fs::permissions(file(), fs::perms::group_read, fs::perm_options::remove);
  fs::permissions(directory(), fs::perms::others_exec, fs::perm_options::add);
  expect_refused("others can read or write it");
  EXPECT_FALSE(find_records(root_));
  Writer other;
  join(other, 1);
  EXPECT_FALSE(other.is_on());
  fs::permissions(directory(), fs::perms::others_exec, fs::perm_options::remove);
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(file().c_str(), 1, 1), 0);
  expect_refused("belongs to another user");
}

TEST_F(LiveRecord, IsNoLinkAndNoPipe) {
  Writer writer;
  join(writer);
  fs::rename(file(), root_ + "/elsewhere");
  fs::create_symlink(root_ + "/elsewhere", file());
  expect_refused("cannot open run");
  fs::remove(file());
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  expect_refused("is not a file");
  Writer other;
  join(other, 1);
  EXPECT_FALSE(other.is_on());
}

TEST_F(LiveRecord, IsNotThereWhereThereIsNoRoom) {
  rlimit all{};
  getrlimit(RLIMIT_FSIZE, &all);
  const rlimit less{header_bytes + slot_bytes / 2, all.rlim_max};
  setrlimit(RLIMIT_FSIZE, &less);
  Writer writer;
  join(writer);
  setrlimit(RLIMIT_FSIZE, &all);
  EXPECT_FALSE(writer.is_on());
  EXPECT_TRUE(fs::is_empty(directory()));
  Writer without_shared_memory;
  without_shared_memory.join({.record = "run"}, root_ + "/nothing");
  EXPECT_FALSE(without_shared_memory.is_on());
}

TEST_F(LiveRecord, IsRemovedWhereItsCreatorDiedBeforeItWasComplete) {
  Writer writer;
  join(writer, 0, 2, "other");
  std::ofstream{file()};
  fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(*find_records(root_), std::vector<std::string>{directory() + "/other"});
}

// -- kinds of segments

class Kinds : public LiveRecord {
 protected:
  void SetUp() override {
    LiveRecord::SetUp();
    join(writer_);
    ASSERT_TRUE(writer_.is_on());
  }
  void add(double nanoseconds, const Features& features) {
    writer_.add(computing(nanoseconds), features, 0, "barrier");
  }
  RankNow rank() {
    publish(writer_);
    Outcome<JobNow> job = read();
    return job ? job->here.front() : RankNow();
  }
  KindNow kind() { return rank().kinds.front(); }

  Writer writer_;
};

TEST_F(Kinds, HaveTheSameCountsAndAboutTheSameVolumes) {
  add(1e6, with_sends(1, 1000.0));
  add(1e6, with_sends(1, 1010.0));
  EXPECT_EQ(rank().kinds.size(), 1u);
  add(1e6, with_sends(1, 2100.0));
  EXPECT_EQ(rank().kinds.size(), 2u);
  add(1e6, with_sends(2, 1000.0));
  EXPECT_EQ(rank().kinds.size(), 3u);
  add(1e6, with_sends(1, 1000.0));
  EXPECT_EQ(rank().kinds.size(), 3u);
}

TEST_F(Kinds, KnowTheLowerQuartileOfTheirDurations) {
  for (int i = 0; i < 1000; ++i) add(1e6 + 1e3 * (i * 7 % 1000), with_sends(1));
  EXPECT_NEAR(kind().usual_seconds, 1.25e-3, 0.02e-3);
  EXPECT_EQ(kind().segments, 1000u);
  EXPECT_NEAR(kind().seconds, 1.4995, 1e-6);
  EXPECT_NEAR(kind().squared_seconds, 1000 * (1.4995e-3 * 1.4995e-3 + 1e-6 / 12), 1e-5);
}

TEST_F(Kinds, FindTheUsualTimeWhereTheFirstSegmentsWereSlow) {
  for (int i = 0; i < 10; ++i) add(20e6, with_sends(1));
  for (int i = 0; i < 90; ++i) add(1e6, with_sends(1));
  EXPECT_NEAR(kind().usual_seconds, 1e-3, 0.02e-3);
}

TEST_F(Kinds, FindTheUsualTimeWhereTheFirstSegmentsWereFarFromTypical) {
  for (const double first : {1e10, 3e5}) {
    add(first, with_sends(first));
    for (int i = 0; i < 99; ++i) add(1e7, with_sends(first));
  }
  for (const KindNow& kind : rank().kinds) {
    EXPECT_NEAR(kind.usual_seconds, 1e-2, 1e-4);
    EXPECT_EQ(kind.bins[bin_of(1e7) - kind.first_bin], 99u);
    EXPECT_EQ(kind.below + kind.above, 1u);
  }
}

TEST_F(Kinds, FindTheUsualTimeWhereMostSegmentsAreDisturbed) {
  for (int i = 0; i < 1000; ++i) add(i % 10 < 3 ? 1e6 : 2e6, with_sends(1));
  EXPECT_NEAR(kind().usual_seconds, 1e-3, 0.02e-3);
  EXPECT_NEAR(rank().totals.beyond[index_of(PartOfTime::computation)], 0.7, 0.02);
}

TEST_F(Kinds, CountWhatIsBelowAndAboveTheBins) {
  for (const double nanoseconds : {1e7, 2.5e5, 1e10, 1e7, 3e5, 2.2e5, 9e7, 7e7}) add(nanoseconds, with_sends(1));
  const KindNow now = kind();
  EXPECT_EQ(now.below, 3u);
  EXPECT_NEAR(now.below_seconds, 7.7e-4, 1e-11);
  EXPECT_EQ(now.above, 2u);
  EXPECT_NEAR(now.above_seconds, 10.09, 1e-8);
  std::uint64_t counted = 0;
  for (const std::uint32_t count : now.bins) counted += count;
  EXPECT_EQ(counted, 3u);
}

TEST_F(Kinds, HaveAboutTheSameWork) {
  const auto with_work = [](double work) {
    Features values = with_sends(1);
    values[index_of(Feature::compute)] = work;
    return values;
  };
  for (const double work : {10.0, 1e3, 1e5}) add(1e6, with_work(work));
  EXPECT_EQ(rank().kinds.size(), 1u);
  for (int i = 0; i < 30; ++i) add(1e6, with_work(2.2e6 + 1e4 * i));
  for (int i = 0; i < 30; ++i) add(15e6, with_work(30e6 + 1e4 * i));
  const RankNow now = rank();
  EXPECT_EQ(now.kinds.size(), 3u);
  EXPECT_NEAR(now.totals.usual_seconds, now.totals.seconds, 1e-9);
}

TEST_F(Kinds, ThatAreRareGiveWayToLaterOnes) {
  for (int i = 0; i < 100; ++i) add(1e6 * (1 + i % 3), with_sends(i));
  for (int i = 0; i < 100; ++i) add(5e6, with_sends(1000));
  const RankNow now = rank();
  const auto frequent = std::find_if(now.kinds.begin(), now.kinds.end(),
                                     [](const KindNow& kind) { return kind.segments >= 100 && !kind.place.empty(); });
  ASSERT_NE(frequent, now.kinds.end());
  EXPECT_NEAR(frequent->usual_seconds, 5e-3, 1e-6);
  EXPECT_NEAR(now.totals.usual_seconds, now.totals.seconds, 1e-9);
}

TEST_F(Kinds, BeyondTheTableShareTheLastAndCountAsUsual) {
  for (int i = 0; i < 900; ++i) add(1e6 * (1 + i % 3), with_sends(i / 9));
  const RankNow now = rank();
  ASSERT_EQ(now.kinds.size(), most_kinds);
  std::uint64_t segments = 0;
  for (const KindNow& kind : now.kinds) segments += kind.segments;
  EXPECT_EQ(segments, 900u);
  EXPECT_EQ(now.kinds.back().segments, 900 - 9 * (most_kinds - 1));
  EXPECT_TRUE(now.kinds.back().place.empty());
}

TEST_F(Kinds, SayWhichPartOfASlowSegmentWasLonger) {
  const auto waiting = [this](double compute, double wait) {
    Measured<double> ticks = computing(compute + wait);
    ticks[index_of(Measure::boundary)] = wait;
    writer_.add(ticks, with_sends(1), 0, "barrier");
  };
  for (int i = 0; i < 100; ++i) waiting(1e6, 1e5);
  waiting(1e6, 5.1e6);
  const Totals totals = rank().totals;
  EXPECT_NEAR(totals.beyond[index_of(PartOfTime::boundary)], 5e-3, 1e-6);
  EXPECT_NEAR(totals.beyond[index_of(PartOfTime::computation)], 0.0, 1e-9);
  EXPECT_NEAR(totals.usual_seconds, 101 * 1.1e-3, 1e-6);
}

// Two thirds are of one kind, and each long one counts once.
TEST_F(Kinds, OfShortSegmentsAreEstimatedFromOneInEight) {
  constexpr int segments = 80000;
  for (int i = 0; i < segments; ++i) add(i % 100 == 7 ? 1e6 : 1e3, with_sends(i % 3 == 0 ? 1 : 2));
  const RankNow now = rank();
  EXPECT_EQ(now.boundaries, segments);
  EXPECT_EQ(now.totals.segments, segments);
  EXPECT_NEAR(now.totals.seconds, 1e-9 * segments * (0.99 * 1e3 + 0.01 * 1e6), 1e-9);
  EXPECT_NEAR(now.totals.usual_seconds, 1e-6 * segments, 1e-6 * 0.02 * segments);
  ASSERT_EQ(now.kinds.size(), 2u);
  std::uint64_t sorted = 0;
  for (const KindNow& kind : now.kinds) sorted += kind.segments;
  EXPECT_NEAR(static_cast<double>(sorted), segments, 16);
  const KindNow& rare = now.kinds[now.kinds[0].segments < now.kinds[1].segments ? 0 : 1];
  EXPECT_NEAR(static_cast<double>(rare.segments), segments / 3.0, 0.02 * segments);
  EXPECT_NEAR(now.totals.beyond[0], 0.01 * segments * 0.999e-3, 2e-3);
}

TEST_F(Kinds, AtManyPlacesLoseTheTextsOfTheLastPlaces) {
  for (std::size_t place = 0; place < 40; ++place) {
    writer_.add(computing(1e6), with_sends(1), place, "site" + std::to_string(place));
  }
  const RankNow now = rank();
  EXPECT_EQ(std::count_if(now.kinds.begin(), now.kinds.end(), [](const KindNow& kind) { return kind.place.empty(); }),
            2);  // that of the last places, and the rest
  EXPECT_EQ(now.totals.segments, 40u);
}

// -- suspension

class Suspended : public Kinds {
 protected:
  static std::uint64_t soon() { return nanoseconds_of(CLOCK_MONOTONIC) + second / 20; }
  Suspender suspender() const {
    Outcome<Suspender> opened = Suspender::open(file());
    if (!opened) ADD_FAILURE() << opened.failure().message;
    return std::move(*opened);
  }
};

TEST_F(Suspended, NobodyIsWithoutBeingAsked) {
  add(1e6, with_sends(1));
  EXPECT_FALSE(writer_.is_asked_to_stop());
  EXPECT_FALSE(writer_.stand_still());
}

TEST_F(Suspended, ARankStopsAtTheBoundaryAndGoesOnWhenThePromiseEnds) {
  Suspender suspender = this->suspender();
  std::uint64_t boundary = 0;
  std::uint64_t end = 0;
  do {  // again, if a slow machine lets the promise end before the rank has looked at it
    ASSERT_TRUE(suspender.ask_to_stop(boundary += 2, nanoseconds_of(CLOCK_MONOTONIC) + 3600 * second));
    add(1e6, with_sends(1));
    EXPECT_FALSE(writer_.is_asked_to_stop());
    add(1e6, with_sends(1));
    ASSERT_TRUE(writer_.is_asked_to_stop());
    end = soon();
    suspender.renew(end);
  } while (!writer_.stand_still());
  EXPECT_GE(nanoseconds_of(CLOCK_MONOTONIC), end);
  EXPECT_FALSE(writer_.is_asked_to_stop());
  EXPECT_EQ(rank().state, State::running);
}

TEST_F(Suspended, ARankIsShownAsSuchAndGoesOnWhenItIsLetGo) {
  Suspender suspender = this->suspender();
  ASSERT_TRUE(suspender.ask_to_stop(1, nanoseconds_of(CLOCK_MONOTONIC) + 5 * second));
  add(1e6, with_sends(1));
  std::thread rank([this] { EXPECT_TRUE(writer_.stand_still()); });
  while (read()->here.front().state != State::suspended) std::this_thread::yield();
  suspender.renew(nanoseconds_of(CLOCK_MONOTONIC) + 3600 * second);
  suspender.let_go();
  rank.join();
  EXPECT_EQ(read()->here.front().state, State::running);
}

TEST_F(Suspended, NobodyIsAskedToStopWhereItMayHavePassed) {
  add(1e6, with_sends(1));
  Suspender suspender = this->suspender();
  EXPECT_EQ(suspender.passed(), 1u);
  EXPECT_FALSE(suspender.ask_to_stop(1, soon()));
  EXPECT_FALSE(writer_.is_asked_to_stop());
}

TEST_F(Suspended, APromiseThatIsOverStopsNobodyAndIsTakenBack) {
  Suspender suspender = this->suspender();
  ASSERT_TRUE(suspender.ask_to_stop(1, 1));
  add(1e6, with_sends(1));
  EXPECT_TRUE(writer_.is_asked_to_stop());
  EXPECT_FALSE(writer_.stand_still());
  EXPECT_FALSE(writer_.is_asked_to_stop());
}

}  // namespace
