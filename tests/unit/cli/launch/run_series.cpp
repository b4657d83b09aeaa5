#include "cli/launch/run_series.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "tests/unit/temporary_directory.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::cli;

namespace fs = std::filesystem;

class RunSeriesTest : public ::testing::Test {
 protected:
  SeriesPurpose purpose() const {
    return {.subcommand = "validate", .command = command_, .options = {{"levels", "6"}}, .asked = {{"within", "2%"}}};
  }
  RunSeries begun() const { return std::move(*RunSeries::begin(directory_, purpose())); }
  Outcome<RunSeries> resumed() const { return RunSeries::resume(directory_, purpose()); }

  // A run that ends well, or with such a status.
  static RunSeries::MakeRun ends_with(int status) {
    return [status](const std::string& profile, const std::string& log) -> Outcome<RecordedRunEnd> {
      std::ofstream(log) << "said\n";
      if (status != 0) return RecordedRunEnd{.status = status};
      std::ofstream(profile) << "a profile\n";
      return RecordedRunEnd{.profile = profile};
    };
  }

  std::string manifest() const {
    std::ifstream in(directory_ / "series.json");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write_manifest(const std::string& text) const { std::ofstream(directory_ / "series.json") << text; }
  std::string why_not_resumed() const {
    const Outcome<RunSeries> series = resumed();
    return series ? "" : series.failure().message;
  }

  halcyon::testing::TemporaryDirectory temporary_;
  fs::path directory_ = temporary_.path() / "series";
  Words command_{"mpirun", "./app", "a \"b\""};
  SignalRelay relay_;
};

TEST(RunNames, HaveAsManyDigitsAsTheLastOne) {
  EXPECT_EQ(run_name(7, 9), "run-7");
  EXPECT_EQ(run_name(7, 10), "run-07");
  EXPECT_EQ(run_name(100, 100), "run-100");
}

TEST_F(RunSeriesTest, ARunHasAProfileAndALogOfItsName) {
  RunSeries series = begun();
  const Outcome<std::string> profile = series.record("run-1", command_, ends_with(0), relay_);
  ASSERT_TRUE(profile);
  EXPECT_EQ(*profile, (directory_ / "run-1.h5").string());
  EXPECT_EQ(series.log_of("run-1"), (directory_ / "run-1.log").string());
  EXPECT_TRUE(fs::exists(series.log_of("run-1")));
}

TEST_F(RunSeriesTest, ItsDirectoryMayBeGivenWithASlashAtTheEnd) {
  RunSeries series = std::move(*RunSeries::begin(directory_ / "", purpose()));
  EXPECT_EQ(series.directory(), directory_);
  EXPECT_TRUE(series.record("run-1", command_, ends_with(0), relay_));
}

TEST_F(RunSeriesTest, ItIsWhereAShellFindsADirectoryBehindALink) {
  const fs::path top = directory_.parent_path();
  fs::create_directories(top / "far" / "away");
  fs::create_directory_symlink(top / "far" / "away", top / "link");
  RunSeries series = std::move(*RunSeries::begin(top / "link" / ".." / "series", purpose()));
  EXPECT_EQ(series.directory(), fs::canonical(top / "far" / "series"));
  EXPECT_TRUE(series.record("run-1", command_, ends_with(0), relay_));
}

TEST_F(RunSeriesTest, WhatRanksReplaceMustNotBeInTheNameOfItsDirectory) {
  directory_ = directory_.parent_path() / "{np}";
  const Outcome<RunSeries> series = RunSeries::begin(directory_, purpose());
  ASSERT_FALSE(series);
  EXPECT_NE(series.failure().message.find("must not have {np} in its name"), std::string::npos)
      << series.failure().message;
  EXPECT_FALSE(fs::exists(directory_));
  EXPECT_EQ("-o: " + why_not_resumed(), series.failure().message);
}

TEST_F(RunSeriesTest, OtherBracesMayBeInTheNameOfItsDirectory) {
  directory_ = directory_.parent_path() / "{}{N}";
  begun();
  EXPECT_EQ(why_not_resumed(), "");
}

TEST_F(RunSeriesTest, SeriesThatBeginInTheSameSecondHaveDirectoriesOfTheirOwn) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_.parent_path());
  const Outcome<RunSeries> first = RunSeries::begin(purpose());
  const Outcome<RunSeries> second = RunSeries::begin(purpose());
  fs::current_path(before);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second) << second.failure().message;
  EXPECT_NE(first->directory(), second->directory());
  EXPECT_TRUE(fs::exists(second->directory() / "series.json"));
}

TEST_F(RunSeriesTest, ADirectoryWithSomethingInItIsLeftAlone) {
  fs::create_directory(directory_);
  std::ofstream(directory_ / "notes") << "precious";
  const Outcome<RunSeries> series = RunSeries::begin(directory_, purpose());
  ASSERT_FALSE(series);
  EXPECT_NE(series.failure().message.find("not empty"), std::string::npos);
  EXPECT_FALSE(fs::exists(directory_ / "series.json"));
}

TEST_F(RunSeriesTest, WhatWasRunAndHowEachRunEndedIsInTheManifest) {
  RunSeries series = begun();
  ASSERT_TRUE(series.record("run-1", command_, ends_with(0), relay_));
  ASSERT_EQ(*series.count("run-1", {.segments = 100, .ranks = 4}), std::nullopt);
  EXPECT_FALSE(series.record("run-2", command_, ends_with(7), relay_));
  auto document = nlohmann::json::parse(manifest());
  EXPECT_EQ(document["series_version"], 1);
  EXPECT_EQ(document["halcyon"], HALCYON_VERSION);
  EXPECT_EQ(document["command"], (nlohmann::json{"mpirun", "./app", "a \"b\""}));
  EXPECT_EQ(document["options"]["levels"], "6");
  EXPECT_GE(document["runs"][0]["seconds"].get<double>(), 0.0);
  document["runs"][0].erase("seconds");
  EXPECT_EQ(document["runs"][0], nlohmann::json::parse(R"({"name": "run-1", "state": "recorded", "status": 0,
                                                           "profile": "run-1.h5", "segments": 100, "ranks": 4})"));
  EXPECT_EQ(document["runs"][1]["state"], "failed");
  EXPECT_EQ(document["runs"][1]["status"], 7);
}

TEST_F(RunSeriesTest, ASeriesIsResumedWithAllThatWasKnownOfItsRuns) {
  {
    RunSeries series = begun();
    ASSERT_TRUE(series.record("run-1", command_, ends_with(0), relay_));
    ASSERT_TRUE(series.count("run-1", {.segments = 100, .ranks = 4}));
    EXPECT_FALSE(series.record("run-2", command_, ends_with(7), relay_));
  }
  Outcome<RunSeries> series = resumed();
  ASSERT_TRUE(series) << series.failure().message;
  ASSERT_EQ(series->runs().size(), 2);
  EXPECT_EQ(series->runs()[0].state, RunState::recorded);
  EXPECT_EQ(series->runs()[0].profile, "run-1.h5");
  EXPECT_EQ(series->runs()[1].state, RunState::failed);
  ASSERT_TRUE(series->record("run-2", command_, ends_with(0), relay_)) << "a run that failed is made again";
  EXPECT_EQ(series->runs().size(), 2);
  EXPECT_EQ(series->runs()[1].state, RunState::recorded);
  EXPECT_EQ(*series->count("run-2", {.segments = 150, .ranks = 2}),
            "2 ranks instead of 4 and 150 segments instead of 100")
      << "the first run is still what it is held against";
}

TEST_F(RunSeriesTest, ARunWithoutAnEndCountsAsInterrupted) {
  std::string in_the_run;
  {
    RunSeries series = begun();
    const auto killed = [&](const std::string&, const std::string&) -> Outcome<RecordedRunEnd> {
      in_the_run = manifest();
      return RecordedRunEnd{.status = 1};
    };
    EXPECT_FALSE(series.record("run-1", command_, killed, relay_));
  }
  write_manifest(in_the_run);
  const Outcome<RunSeries> seen_later = resumed();
  ASSERT_TRUE(seen_later);
  EXPECT_EQ(seen_later->runs().front().state, RunState::interrupted);
}

TEST_F(RunSeriesTest, ItIsNotContinuedBesideAJobOfASessionThatWasKilled) {
  std::optional<Job> job;
  {
    const RunSeries series = begun();
    job.emplace(std::move(*Job::start({.words = {"sleep", "1000"}, .inherited = series.lock()})));
  }
  EXPECT_EQ(why_not_resumed(), "process " + std::to_string(job->address()) + " (sleep) is making runs in " +
                                   directory_.string() + ": wait until it has ended");
  job.reset();
  EXPECT_EQ(why_not_resumed(), "");
}

TEST_F(RunSeriesTest, ItsTimeIsThatOfAllSessionsAndAllThatIsDoneInThem) {
  begun();
  auto document = nlohmann::json::parse(manifest());
  document["elapsed_seconds"] = 5000.0;
  write_manifest(document.dump());
  EXPECT_GE(resumed()->elapsed_seconds(), 5000.0);
  EXPECT_GE(nlohmann::json::parse(manifest())["elapsed_seconds"].get<double>(), 5000.0);
}

TEST_F(RunSeriesTest, TheTimeOfAnOlderSeriesIsThatOfItsRuns) {
  {
    RunSeries series = begun();
    ASSERT_TRUE(series.record("run-1", command_, ends_with(0), relay_));
  }
  auto document = nlohmann::json::parse(manifest());
  document.erase("elapsed_seconds");
  document["runs"][0]["seconds"] = 70.0;
  write_manifest(document.dump());
  EXPECT_GE(resumed()->elapsed_seconds(), 70.0);
}

TEST_F(RunSeriesTest, TwoProcessesDoNotContinueItAtTheSameTime) {
  {
    const RunSeries series = begun();
    EXPECT_EQ(why_not_resumed(), "process " + std::to_string(getpid()) + " (unit_cli) is making runs in " +
                                     directory_.string() + ": wait until it has ended");
  }
  EXPECT_EQ(why_not_resumed(), "");
}

TEST_F(RunSeriesTest, ItKeepsWhatWasAskedForAndMayBeAskedForSomethingElse) {
  begun();
  SeriesPurpose other = purpose();
  other.asked.front().second = "1%";
  ASSERT_TRUE(RunSeries::resume(directory_, other));
  EXPECT_EQ(RunSeries::purpose_of(directory_)->asked, (Environment{{"within", "1%"}}));
}

TEST_F(RunSeriesTest, ARunWhoseProfileIsElsewhereHasFailed) {
  RunSeries series = begun();
  const auto elsewhere = [](const std::string&, const std::string&) {
    return RecordedRunEnd{.profile = "/tmp/run-1.h5"};
  };
  const Outcome<std::string> profile = series.record("run-1", command_, elsewhere, relay_);
  ASSERT_FALSE(profile);
  EXPECT_TRUE(profile.failure().message.starts_with("run-1: its profile is /tmp/run-1.h5, since it could not be"))
      << profile.failure().message;
  EXPECT_EQ(series.runs().front().state, RunState::failed);
}

TEST_F(RunSeriesTest, ASeriesOfOtherRunsIsNotResumed) {
  begun();
  SeriesPurpose other_command = purpose();
  other_command.command.emplace_back("more");
  SeriesPurpose other_options = purpose();
  other_options.options.front().second = "3";
  const std::string command = R"(command ["mpirun","./app","a \"b\""] (command)";
  for (const auto& [other, what] : {std::pair(other_command, command), {other_options, "levels=6 (options"}}) {
    const Outcome<RunSeries> series = RunSeries::resume(directory_, other);
    ASSERT_FALSE(series);
    EXPECT_EQ(series.failure().message, directory_.string() + " is a series of other runs: it was made with " + what +
                                            " of " + (directory_ / "series.json").string() +
                                            "). Give the same options");
  }
}

TEST_F(RunSeriesTest, ADirectoryWithoutAManifestIsNoSeries) {
  EXPECT_EQ(why_not_resumed(), directory_.string() + " does not exist");
  fs::create_directory(directory_);
  EXPECT_NE(why_not_resumed().find("holds no series of runs"), std::string::npos) << why_not_resumed();
}

TEST_F(RunSeriesTest, ADamagedManifestIsToldInOneLine) {
  {
    RunSeries series = begun();
    ASSERT_TRUE(series.record("run-1", command_, ends_with(0), relay_));
  }
  const std::string good = manifest();
  EXPECT_EQ(why_not_resumed(), "");
  const auto with = [&good](const std::string& text, const std::string& other) {
    std::string changed = good;
    return changed.replace(changed.find(text), text.size(), other);
  };
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("nothing"), good.substr(0, good.size() / 2),
        with("\"runs\"", "\"ruins\""), with("\"recorded\"", "\"sleeping\""), with("\"status\": 0", "\"status\": []"),
        with("run-1.h5", "../run-1.h5"), with("\"run-1\"", "\"\""), with("\"segments\": 0", "\"segments\": -1"),
        with("\"command\"", "\"c\"")}) {
    write_manifest(bad);
    EXPECT_NE(why_not_resumed().find("series.json is damaged"), std::string::npos) << bad << why_not_resumed();
  }
}

TEST_F(RunSeriesTest, AManifestOfANewerHalcyonIsRefusedByItsVersion) {
  begun();
  write_manifest(R"({"series_version": 2})");
  EXPECT_NE(why_not_resumed().find("is of version 2"), std::string::npos) << why_not_resumed();
}

TEST_F(RunSeriesTest, ARunThatFailsIsToldWithItsCommandAndItsLog) {
  RunSeries series = begun();
  const Outcome<std::string> failed = series.record("run-1", command_, ends_with(7), relay_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure().message, "run-1 ended with status 7 (its output is " +
                                          (directory_ / "run-1.log").string() +
                                          "; to check the command: halcyon doctor -- mpirun ./app 'a \"b\"')");
  const auto without_profile = [](const std::string&, const std::string&) { return RecordedRunEnd{}; };
  const Outcome<std::string> unwritten = series.record("run-2", command_, without_profile, relay_);
  ASSERT_FALSE(unwritten);
  EXPECT_TRUE(unwritten.failure().message.starts_with("run-2: no profile was written")) << unwritten.failure().message;
}

TEST_F(RunSeriesTest, ASignalStopsItAndKeepsWhatThereIs) {
  std::optional<RunSeries> series = begun();
  ASSERT_TRUE(series->record("run-1", command_, ends_with(0), relay_));
  const auto interrupted = [](const std::string& profile, const std::string&) -> Outcome<RecordedRunEnd> {
    raise(SIGTERM);
    return RecordedRunEnd{.profile = profile};
  };
  const Outcome<std::string> second = series->record("run-2", command_, interrupted, relay_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.failure().message, "interrupted in run-2; the profiles so far are in " + directory_.string());
  const Outcome<std::string> third = series->record("run-3", command_, ends_with(0), relay_);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.failure().message, "interrupted before run-3; the profiles so far are in " + directory_.string());
  series.reset();
  const Outcome<RunSeries> later = resumed();
  ASSERT_TRUE(later);
  ASSERT_EQ(later->runs().size(), 2);
  EXPECT_EQ(later->runs()[0].state, RunState::recorded);
  EXPECT_EQ(later->runs()[1].state, RunState::interrupted);
}

TEST_F(RunSeriesTest, ARunOfOtherWorkDoesNotCount) {
  RunSeries series = begun();
  for (const char* name : {"run-1", "run-2", "run-3"}) ASSERT_TRUE(series.record(name, command_, ends_with(0), relay_));
  EXPECT_EQ(*series.count("run-1", {.segments = 100, .ranks = 4}), std::nullopt);
  EXPECT_EQ(*series.count("run-2", {.segments = 110, .ranks = 4}), std::nullopt);
  EXPECT_EQ(*series.count("run-3", {.segments = 111, .ranks = 4}), "111 segments instead of 100");
  EXPECT_EQ(series.runs().back().state, RunState::other_work);
}

TEST_F(RunSeriesTest, ARunOnOtherRanksDidOtherWork) {
  RunSeries series = begun();
  for (const char* name : {"run-1", "run-2"}) ASSERT_TRUE(series.record(name, command_, ends_with(0), relay_));
  EXPECT_EQ(*series.count("run-1", {.segments = 100, .ranks = 4}), std::nullopt);
  EXPECT_EQ(*series.count("run-2", {.segments = 100, .ranks = 1}), "1 rank instead of 4");
  EXPECT_EQ(series.runs().back().state, RunState::other_work);
}

TEST_F(RunSeriesTest, TheRanksOfAnOlderSeriesAreNotKnownAndItIsResumed) {
  {
    RunSeries series = begun();
    ASSERT_TRUE(series.record("run-1", command_, ends_with(0), relay_));
    ASSERT_TRUE(series.count("run-1", {.segments = 100, .ranks = 4}));
  }
  auto document = nlohmann::json::parse(manifest());
  document["runs"][0].erase("ranks");
  write_manifest(document.dump());
  Outcome<RunSeries> series = resumed();
  ASSERT_TRUE(series) << series.failure().message;
  ASSERT_TRUE(series->record("run-2", command_, ends_with(0), relay_));
  EXPECT_EQ(*series->count("run-2", {.segments = 200, .ranks = 2}), "200 segments instead of 100");
}

TEST_F(RunSeriesTest, RunsOfTwoProgramsAreEachHeldAgainstTheirOwnFirstRun) {
  RunSeries series = begun();
  for (const char* name : {"a-1", "b-1", "b-2", "a-2"})
    ASSERT_TRUE(series.record(name, command_, ends_with(0), relay_));
  EXPECT_EQ(*series.count("a-1", {100, 4}, "a-"), std::nullopt);
  EXPECT_EQ(*series.count("b-1", {200, 4}, "b-"), std::nullopt);
  EXPECT_EQ(*series.count("b-2", {200, 4}, "b-"), std::nullopt);
  EXPECT_EQ(*series.count("a-2", {200, 4}, "a-"), "200 segments instead of 100");
}

TEST_F(RunSeriesTest, ADirectoryThatCannotBeWrittenEndsIt) {
  RunSeries series = begun();
  fs::remove_all(directory_);
  const Outcome<std::string> profile = series.record("run-1", command_, ends_with(0), relay_);
  ASSERT_FALSE(profile);
  EXPECT_TRUE(profile.failure().message.starts_with("cannot write " + (directory_ / "series.json").string()));
}

}  // namespace
