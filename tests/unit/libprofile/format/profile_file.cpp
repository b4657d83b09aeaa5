#include <gtest/gtest.h>
#include <fcntl.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "libprofile/format/send_profile.hpp"
#include "libprofile/format/stream.hpp"
#include "libprofile/system/descriptor.hpp"
#include "tests/unit/synthetic_profile.hpp"
#include "tests/unit/temporary_directory.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;
namespace fs = std::filesystem;

class ProfileFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name = "run.h5") const { return (directory_ / name).string(); }

  void write_bytes(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  /// Overwrites an integer attribute of the root group.
  void set_attribute(const std::string& file, const char* name, std::int64_t value) const {
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t attribute = H5Aopen(id, name, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT64, &value);
    H5Aclose(attribute);
    H5Fclose(id);
  }

  /// Takes a column out, for something else to be put in its place.
  void replace_column(const std::string& file, const char* name, const std::function<void(hid_t)>& put) const {
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(id, name, H5P_DEFAULT);
    put(id);
    H5Fclose(id);
  }

  /// As the process that writes saves a run for the ledger alone.
  void write_frames(const Profile& profile, const std::string& name) const {
    const Descriptor file(open(path(name).c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600));
    FrameWriter out(file.number());
    out.attribute("schema_version", std::int64_t{newest_schema_version});
    send_profile(profile, out);
    out.end();
    ASSERT_TRUE(out.ok());
  }
  std::string bytes_of(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryDirectory temporary_;
  fs::path directory_ = temporary_.path();
};

Witnessed witnessed() {
  Witnessed seen{.by = "switches", .seconds = 30.0, .waited_seconds = 4.0};
  seen.add({.whose = PartyKind::other_job, .program = "cc1plus", .user = "ann", .job = "4711"}, 3.0);
  seen.add({.whose = PartyKind::kernel, .program = "ksoftirqd/0"}, 1.0);
  return seen;
}

Profile rich_profile() {
  Profile profile = uniform_profile(40000, 1e-3);  // more than a chunk
  column(profile, Feature::compute) = {{1e6, 2e6}, std::vector<std::uint16_t>(40000, 1)};
  column(profile, Feature::compute).index[7] = 0;
  column(profile, Feature::bytes_sent).reduced = true;
  profile.totals[index_of(Feature::bytes_sent)] = {std::uint64_t{1} << 60, 3};
  profile.sites = {"allreduce@app+0x10", "barrier@libä.so+0x20"};
  profile.site.assign(40000, 1);
  profile.injected.requested.assign(40000, 0.5F);
  profile.injected.actual.assign(40000, 0.6F);
  profile.injected.critical.assign(40000, 0.3F);
  profile.inject = "class=all,prob=0.1,mean=1ms";
  profile.boundary = "rooted";
  profile.background_before = {{50e-6, 51e-6}, {52e-6, 53e-6}};
  profile.background_after = {{54e-6, 55e-6}, {56e-6, 57e-6}};
  profile.rank_cpu = {"Some CPU", "Some CPU"};
  profile.probes[index_of(Probe::l2)] = {{1e-9, 2e-9}, {1.5e-9, 2.5e-9}, {1e-9, 3e-9}, {2e-9, 4e-9}, {1e-9, 1e-9}};
  profile.known_runs = KnownRuns{3, 1.5, -0.5, 2.0, 30.0, KnownRuns::OfParts{2, 1.25, -0.25, 1.75}};
  profile.suspension = Suspension{12.5, 3};
  profile.witnessed = witnessed();
  profile.last_rank_off_cpu[3] = 0.25F;
  profile.lost_to_cpu_wait.assign(40000, 0.0625F);
  profile.lost_to_slower_ranks.assign(40000, 0.03125F);
  profile.lost_to_more_work.assign(40000, 0.015625F);
  profile.sections.place.assign(RankSections::eighths, "allreduce@app+0x10");
  profile.sections.computing.assign(2 * RankSections::eighths, 0.5F);
  profile.sections.work.assign(2 * RankSections::eighths, 1e9F);
  profile.sections.waiting.assign(2 * RankSections::eighths, std::numeric_limits<float>::quiet_NaN());
  profile.sections.file_io.assign(2 * RankSections::eighths, 0.0F);
  profile.sections.device.assign(2 * RankSections::eighths, 0.25F);
  profile.start_nanoseconds = 1'800'000'000'123'456'789;
  profile.job = "4711";
  profile.user = "alice";
  profile.calls_beyond_usual[2] = 0.125F;
  profile.evidence[index_of(Evidence::involuntary_switches)] = {7.0, 9.0};
  profile.evidence[index_of(Evidence::steal)].assign(2, std::numeric_limits<double>::quiet_NaN());
  return profile;
}

TEST_F(ProfileFile, OfFramesIsReadAsOneOfHdf5) {
  ASSERT_TRUE(write_profile(rich_profile(), path()));
  write_frames(rich_profile(), "run.frames");
  for (const std::string name : {"run.h5", "run.frames"}) {
    const Outcome<Profile> read = read_profile(path(name));
    ASSERT_TRUE(read) << read.failure().message;
    write_frames(*read, "from_" + name);
  }
  EXPECT_EQ(bytes_of("from_run.frames"), bytes_of("from_run.h5"));
}

TEST_F(ProfileFile, OfFramesThatEndEarlyIsRefused) {
  write_frames(rich_profile(), "run.frames");
  const std::string whole = bytes_of("run.frames");
  for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{17}}) {
    write_bytes("cut.frames", whole.substr(0, size));
    const Outcome<Profile> read = read_profile(path("cut.frames"));
    ASSERT_FALSE(read);
    EXPECT_NE(read.failure().message.find("cut.frames is damaged"), std::string::npos) << read.failure().message;
  }
}

TEST_F(ProfileFile, GivesBackWhatWasWritten) {
  const Profile written = rich_profile();
  ASSERT_TRUE(write_profile(written, path()));
  const Outcome<Profile> read = read_profile(path());
  ASSERT_TRUE(read) << read.failure().message;
  EXPECT_EQ(read->command, written.command);
  EXPECT_EQ(read->segments, 40000u);
  EXPECT_EQ(read->duration, written.duration);
  EXPECT_EQ(read->features[0].index, written.features[0].index);
  EXPECT_EQ(read->features[0].bins, written.features[0].bins);
  EXPECT_TRUE(read->features[index_of(Feature::bytes_sent)].reduced);
  EXPECT_EQ(read->totals, written.totals);
  EXPECT_EQ(read->sites, written.sites);
  EXPECT_EQ(read->site, written.site);
  EXPECT_EQ(read->injected.critical, written.injected.critical);
  EXPECT_EQ(read->inject, written.inject);
  EXPECT_EQ(read->boundary, written.boundary);
  EXPECT_EQ(read->hosts(), std::vector<std::string>{"host"});
  EXPECT_EQ(read->background_before.quantum, written.background_before.quantum);
  EXPECT_EQ(read->background_after.mean, written.background_after.mean);
  EXPECT_EQ(read->rank_cpu, written.rank_cpu);
  const ProbeColumns& probe = read->probes[index_of(Probe::l2)];
  EXPECT_EQ(probe.best_before, (std::vector<double>{1e-9, 2e-9}));
  EXPECT_EQ(probe.mean_before, (std::vector<double>{1.5e-9, 2.5e-9}));
  EXPECT_EQ(probe.best_after, (std::vector<double>{1e-9, 3e-9}));
  EXPECT_EQ(probe.mean_after, (std::vector<double>{2e-9, 4e-9}));
  EXPECT_EQ(probe.known, (std::vector<double>{1e-9, 1e-9}));
  EXPECT_TRUE(read->probes[index_of(Probe::registers)].best_before.empty());
  ASSERT_TRUE(read->known_runs);
  EXPECT_EQ(read->known_runs->runs, 3u);
  EXPECT_EQ(read->known_runs->low_seconds, -0.5);
  ASSERT_TRUE(read->known_runs->of_parts);
  EXPECT_EQ(read->known_runs->of_parts->runs, 2u);
  EXPECT_EQ(read->known_runs->of_parts->beyond_seconds, 1.25);
  EXPECT_EQ(read->known_runs->of_parts->high_seconds, 1.75);
  ASSERT_TRUE(read->suspension);
  EXPECT_EQ(read->suspension->seconds, 12.5);
  EXPECT_EQ(read->suspension->times, 3u);
  EXPECT_EQ(read->witnessed, written.witnessed);
  EXPECT_EQ(read->last_rank_off_cpu, written.last_rank_off_cpu);
  EXPECT_EQ(read->lost_to_cpu_wait, written.lost_to_cpu_wait);
  EXPECT_EQ(read->lost_to_slower_ranks, written.lost_to_slower_ranks);
  EXPECT_EQ(read->lost_to_more_work, written.lost_to_more_work);
  EXPECT_EQ(read->sections.place, written.sections.place);
  EXPECT_EQ(read->sections.computing, written.sections.computing);
  EXPECT_EQ(read->sections.work, written.sections.work);
  EXPECT_TRUE(std::isnan(read->sections.waiting.at(15)));
  EXPECT_EQ(read->start_nanoseconds, written.start_nanoseconds);
  EXPECT_EQ(read->job, "4711");
  EXPECT_EQ(read->user, "alice");
  EXPECT_EQ(read->cluster, "");
  EXPECT_EQ(read->calls_beyond_usual, written.calls_beyond_usual);
  EXPECT_EQ(read->evidence[index_of(Evidence::involuntary_switches)], (std::vector<double>{7.0, 9.0}));
  EXPECT_TRUE(std::isnan(read->evidence[index_of(Evidence::steal)].at(1)));
}

TEST_F(ProfileFile, IsReadWithoutWhatNoAnalysisLooksAt) {
  const Profile written = rich_profile();
  ASSERT_TRUE(write_profile(written, path()));
  const Outcome<Profile> read = read_profile(path(), Columns::analyzed);
  ASSERT_TRUE(read) << read.failure().message;
  EXPECT_TRUE(read->boundary_wait.empty());
  EXPECT_TRUE(read->injected.requested.empty());
  EXPECT_TRUE(read->injected.actual.empty());
  EXPECT_EQ(read->injected.critical, written.injected.critical);
  EXPECT_EQ(read->duration, written.duration);
  EXPECT_EQ(read->last_rank_times, written.last_rank_times);
}

TEST_F(ProfileFile, OfAnOlderRecorderMayLackTheColumnsThatCameLater) {
  Profile older = rich_profile();
  older.last_rank_off_cpu.clear();
  older.lost_to_cpu_wait.clear();
  older.lost_to_slower_ranks.clear();
  older.lost_to_more_work.clear();
  older.sections = {};
  older.last_rank_times[static_cast<std::size_t>(TimeKind::device)].clear();
  older.calls_beyond_usual.clear();
  older.evidence = {};
  ASSERT_TRUE(write_profile(older, path()));
  const Outcome<Profile> read = read_profile(path());
  ASSERT_TRUE(read) << read.failure().message;
  EXPECT_TRUE(read->last_rank_off_cpu.empty());
  EXPECT_TRUE(read->lost_to_cpu_wait.empty());
  EXPECT_TRUE(read->calls_beyond_usual.empty());
  EXPECT_TRUE(read->by_host(Evidence::steal).empty());
  EXPECT_EQ(read->duration, older.duration);
  EXPECT_EQ(read->sections.count(), 0u);
  EXPECT_EQ(read->last_rank_times[static_cast<std::size_t>(TimeKind::device)], std::vector<float>(40000));
}

TEST_F(ProfileFile, WithSectionsThatDoNotFitToItsRanksIsRefused) {
  Profile damaged = rich_profile();
  damaged.sections.computing.resize(RankSections::eighths);  // of one rank of two
  damaged.sections.work.resize(RankSections::eighths);
  damaged.sections.waiting.resize(RankSections::eighths);
  damaged.sections.file_io.resize(RankSections::eighths);
  damaged.sections.device.resize(RankSections::eighths);
  ASSERT_TRUE(write_profile(damaged, path()));
  const Outcome<Profile> read = read_profile(path());
  ASSERT_FALSE(read);
  EXPECT_NE(read.failure().message.find("section_place"), std::string::npos) << read.failure().message;
}

TEST_F(ProfileFile, IsAmendedByWhatWasKnown) {
  Profile profile = rich_profile();
  profile.known_runs.reset();
  profile.probes[index_of(Probe::l2)].known.clear();
  profile.witnessed = {};
  ASSERT_TRUE(write_profile(profile, path()));
  profile.witnessed = witnessed();
  profile.known_runs = KnownRuns{2, 0.5, 0.25, 0.75, 20.0};
  profile.probes[index_of(Probe::l2)].known = {3e-9, 4e-9};
  const Status added = add_what_came_later(profile, path());
  ASSERT_TRUE(added) << added.failure().message;
  const Outcome<Profile> read = read_profile(path());
  ASSERT_TRUE(read) << read.failure().message;
  ASSERT_TRUE(read->known_runs);
  EXPECT_EQ(read->known_runs->displacement_seconds, 0.5);
  EXPECT_EQ(read->known_runs->matched_seconds, 20.0);
  EXPECT_EQ(read->witnessed, witnessed());
  EXPECT_FALSE(read->known_runs->of_parts);
  EXPECT_EQ(read->probes[index_of(Probe::l2)].known, (std::vector<double>{3e-9, 4e-9}));
  EXPECT_EQ(read->duration, profile.duration);
  EXPECT_EQ(read->rank_host, profile.rank_host);
}

TEST_F(ProfileFile, ThatIsNotThereCannotBeAmended) {
  EXPECT_FALSE(add_what_came_later(rich_profile(), path()));
  EXPECT_TRUE(fs::is_empty(fs::path(path()).parent_path()));
}

TEST_F(ProfileFile, WithHalfAWitnessIsRefused) {
  Profile profile = uniform_profile(10, 1.0);
  profile.witnessed = witnessed();
  profile.witnessed.user.clear();
  ASSERT_TRUE(write_profile(profile, path()));
  const Outcome<Profile> read = read_profile(path());
  ASSERT_FALSE(read);
  EXPECT_NE(read.failure().message.find("witness"), std::string::npos) << read.failure().message;
}

TEST_F(ProfileFile, WithImpossibleProbesOrKnownRunsIsRefused) {
  Profile profile = uniform_profile(10, 1.0);
  profile.probes[index_of(Probe::l2)].best_after = {-1.0, 1.0};
  ASSERT_TRUE(write_profile(profile, path()));
  EXPECT_FALSE(read_profile(path()));
  profile = uniform_profile(10, 1.0);
  profile.known_runs = KnownRuns{3, 1.0, 2.0, 0.5, 1.0};  // low above high
  ASSERT_TRUE(write_profile(profile, path() + ".2"));
  EXPECT_FALSE(read_profile(path() + ".2"));
}

TEST_F(ProfileFile, WithNegativeEvidenceIsRefused) {
  Profile profile = uniform_profile(10, 1.0);
  profile.evidence[index_of(Evidence::steal)] = {0.0, -1.0};
  ASSERT_TRUE(write_profile(profile, path()));
  EXPECT_FALSE(read_profile(path()));
}

TEST_F(ProfileFile, OfTheFirstSchemaIsRead) {
  ASSERT_TRUE(write_profile(uniform_profile(10, 1.0), path()));
  set_attribute(path(), "schema_version", 1);
  const Outcome<Profile> read = read_profile(path());
  ASSERT_TRUE(read) << read.failure().message;
  EXPECT_EQ(read->schema_version, 1);
  EXPECT_TRUE(read->background_before.mean.empty());
}

TEST_F(ProfileFile, HasNoHostOfARankThatLeftNothing) {
  Profile profile = uniform_profile(10, 1e-3, 3);
  profile.rank_host = {"a", "unknown", "unknown"};  // as earlier recorders wrote it, and a host of that name
  profile.rank_run_time[1] = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(write_profile(profile, path()));
  const Outcome<Profile> read = read_profile(path());
  ASSERT_TRUE(read) << read.failure().message;
  EXPECT_EQ(read->rank_host, (std::vector<std::string>{"a", "", "unknown"}));
  EXPECT_EQ(read->hosts(), (std::vector<std::string>{"a", "unknown"}));
  EXPECT_EQ(read->where_it_ran(0) + ", " + read->where_it_ran(1), "rank 0 on a, rank 1");
}

TEST(ProfileOfHosts, HasTheCountsOfAnyRankOfAHost) {
  Profile profile = uniform_profile(10, 1e-3, 4);
  profile.rank_host = {"a", "a", "", "b"};
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  profile.evidence[index_of(Evidence::steal)] = {unknown, 2.0, unknown, unknown};
  const std::vector<double> steal = profile.by_host(Evidence::steal);
  ASSERT_EQ(steal.size(), 2U);
  EXPECT_EQ(steal[0], 2.0);
  EXPECT_TRUE(std::isnan(steal[1]));
}

TEST_F(ProfileFile, MayHaveNoSegments) {
  ASSERT_TRUE(write_profile(uniform_profile(0, 1.0), path()));
  const Outcome<Profile> read = read_profile(path());
  ASSERT_TRUE(read) << read.failure().message;
  EXPECT_EQ(read->segments, 0u);
}

TEST_F(ProfileFile, IsNeverOverwritten) {
  write_bytes("run.h5", "precious");
  const Outcome<std::string> name = write_profile(uniform_profile(10, 1.0), path());
  ASSERT_TRUE(name);
  EXPECT_EQ(*name, path("run-2.h5"));
  EXPECT_EQ(fs::file_size(path()), 8u);
  EXPECT_TRUE(read_profile(path("run-2.h5")));
}

TEST_F(ProfileFile, LeavesNothingBehindWhenItCannotBeFinished) {
  {
    Outcome<ProfileWriter> writer = ProfileWriter::create(path());
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->attribute("segments", std::int64_t{5}));
    const float one = 1.0F;
    ASSERT_TRUE(writer->append("duration", ElementType::f32, &one, sizeof one));
    EXPECT_FALSE(writer->finish());
  }
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(ProfileFile, InAMissingDirectoryIsRefusedWithItsName) {
  const Outcome<std::string> name = write_profile(uniform_profile(10, 1.0), path("missing/run.h5"));
  ASSERT_FALSE(name);
  EXPECT_EQ(name.failure().message, "cannot write " + path("missing/run.h5") + ": No such file or directory");
}

// A limit on file sizes fails a write as a full disk does. In a child, which also must survive HDF5's end of the
// process.
TEST_F(ProfileFile, OnAFullDiskFailsWithoutACrashAndLeavesNothingBehind) {
  const auto write_with_little_room = [this] {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit little{};
    little.rlim_cur = little.rlim_max = 8192;
    setrlimit(RLIMIT_FSIZE, &little);
    std::exit(write_profile(rich_profile(), path()) ? 1 : 0);
  };
  EXPECT_EXIT(write_with_little_room(), ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(ProfileFile, OfANewerSchemaIsRefusedByNumber) {
  ASSERT_TRUE(write_profile(uniform_profile(10, 1.0), path()));
  set_attribute(path(), "schema_version", 99);
  const Outcome<Profile> read = read_profile(path());
  ASSERT_FALSE(read);
  EXPECT_NE(read.failure().message.find("schema version 99"), std::string::npos);
}

TEST_F(ProfileFile, ThatIsNoneIsRefused) {
  write_bytes("text", "not a profile");
  EXPECT_FALSE(read_profile(path("text")));
  EXPECT_FALSE(read_profile(path("absent")));
  EXPECT_FALSE(read_profile(directory_.string()));
  H5Fclose(H5Fcreate(path("foreign.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  const Outcome<Profile> foreign = read_profile(path("foreign.h5"));
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.failure().message.find("not a Halcyon profile"), std::string::npos);
}

TEST_F(ProfileFile, WithImpossibleNumbersIsRefused) {
  for (const std::int64_t segments : {std::int64_t{-1}, std::int64_t{11}, std::int64_t{1} << 60}) {
    fs::remove(path());
    ASSERT_TRUE(write_profile(uniform_profile(10, 1.0), path()));
    set_attribute(path(), "segments", segments);
    EXPECT_FALSE(read_profile(path())) << segments;
  }
}

TEST_F(ProfileFile, ThatIsCutOffAnywhereIsRefused) {
  ASSERT_TRUE(write_profile(uniform_profile(100, 1.0), path()));
  std::string bytes;
  {
    std::ifstream in(path(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t size = 0; size + 1 < bytes.size(); size += bytes.size() / 37 + 1) {
    write_bytes("cut.h5", bytes.substr(0, size));
    EXPECT_FALSE(read_profile(path("cut.h5"))) << size << " of " << bytes.size() << " bytes";
  }
}

TEST_F(ProfileFile, ThatWasComposedSaysOfWhat) {
  Profile written = uniform_profile(3, 1.0);
  written.composed_of = {"a.h5", "b.h5"};
  written.source = {0, 1, 1};
  ASSERT_TRUE(write_profile(written, path()));
  const Outcome<Profile> read = read_profile(path());
  ASSERT_TRUE(read) << read.failure().message;
  EXPECT_EQ(read->composed_of, written.composed_of);
  EXPECT_EQ(read->source, written.source);
  written.source = {0, 1, 2};
  ASSERT_TRUE(write_profile(written, path("wrong.h5")));
  EXPECT_FALSE(read_profile(path("wrong.h5")));
}

TEST_F(ProfileFile, WithBinsThatAreNotThereIsRefused) {
  Profile profile = uniform_profile(10, 1.0);
  column(profile, Feature::writes) = {{0.0, 1.0}, std::vector<std::uint16_t>(10, 2)};
  ASSERT_TRUE(write_profile(profile, path()));
  EXPECT_FALSE(read_profile(path()));
}

TEST_F(ProfileFile, ThatClaimsToHoldMoreThanItsSizeAllowsIsRefusedWithoutTheMemory) {
  ASSERT_TRUE(write_profile(uniform_profile(10, 1.0), path()));
  replace_column(path(), "sites", [](hid_t file) {
    const hsize_t size = hsize_t{1} << 40;
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 16;
    H5Pset_chunk(layout, 1, &chunk);
    H5Dclose(H5Dcreate2(file, "sites", type, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    H5Pclose(layout);
    H5Tclose(type);
    H5Sclose(space);
  });
  const Outcome<Profile> read = read_profile(path());
  ASSERT_FALSE(read);
  EXPECT_NE(read.failure().message.find("claims to hold more"), std::string::npos) << read.failure().message;
}

// Else a profile from elsewhere could show any file that its reader may read.
TEST_F(ProfileFile, WithAColumnInAnotherFileIsRefused) {
  ASSERT_TRUE(write_profile(uniform_profile(10, 1.0), path("other.h5")));
  ASSERT_TRUE(write_profile(uniform_profile(10, 1.0), path("link.h5")));
  replace_column(path("link.h5"), "duration", [this](hid_t file) {
    H5Lcreate_external(path("other.h5").c_str(), "/duration", file, "duration", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_FALSE(read_profile(path("link.h5")));

  write_bytes("bytes", std::string(40, '\0'));
  ASSERT_TRUE(write_profile(uniform_profile(10, 1.0), path("storage.h5")));
  replace_column(path("storage.h5"), "duration", [this](hid_t file) {
    const hsize_t size = 10;
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(layout, path("bytes").c_str(), 0, 40);
    H5Dclose(H5Dcreate2(file, "duration", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    H5Pclose(layout);
    H5Sclose(space);
  });
  EXPECT_FALSE(read_profile(path("storage.h5")));
}

}  // namespace
