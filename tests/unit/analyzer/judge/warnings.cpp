#include "analyzer/judge/warnings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

constexpr double run_time = 100.0;

// A run of 100 s that gives no warning.
struct Warned {
  Profile profile = uniform_profile(1000, 0.1);
  Analysis analysis;

  Warned() {
    analysis.run_time_seconds = run_time;
    analysis.coverage_percent = 100.0;
    analysis.segment_rate_hz = 10.0;
    analysis.methods.resize(1);
  }
  std::vector<std::string> codes() const {
    std::vector<std::string> all;
    for (const Warning& warning : warnings_of(profile, analysis)) all.push_back(warning.code);
    return all;
  }
  std::string message() const {
    const std::vector<Warning> all = warnings_of(profile, analysis);
    return all.size() == 1 ? all.front().message : "";
  }
};

using Codes = std::vector<std::string>;

TEST(Warnings, AreNoneOfAWholeRun) { EXPECT_EQ(Warned().codes(), Codes{}); }

TEST(Warnings, AreGivenOfARunThatDidNotEnd) {
  Warned run;
  run.profile.exit_state = "signal 15";
  run.profile.incomplete = "block 3 is missing";
  EXPECT_EQ(run.codes(), Codes{"incomplete-run"});
  EXPECT_NE(run.message().find("signal 15"), std::string::npos);
  EXPECT_NE(run.message().find("block 3 is missing"), std::string::npos);
  run.profile.composed_of = {"a.h5"};
  EXPECT_EQ(run.codes(), Codes{});
}

TEST(Warnings, AreGivenOfCallsThatBypassedTheRecorder) {
  Warned run;
  run.profile.incomplete = "calls of MPI by libplugin.so are missing";
  EXPECT_EQ(run.codes(), Codes{"bypassed-calls"});
  Warned without_calls;
  without_calls.profile.segments = 1;
  EXPECT_EQ(without_calls.codes(), Codes{"bypassed-calls"});
  without_calls.profile.totals[index_of(Feature::sends_blocking)] = {0, 1};
  EXPECT_EQ(without_calls.codes(), Codes{});
}

TEST(Warnings, SayHowManySegmentsAreMissing) {
  Warned run;
  run.profile.dropped_segments = 3;
  EXPECT_EQ(run.codes(), Codes{"segments-dropped"});
  EXPECT_NE(run.message().find("3 segments"), std::string::npos);
}

TEST(Warnings, AreGivenWhereRecordingCostsMoreThanATenthOfTheGreenRange) {
  Warned run;
  run.profile.boundary_cost_seconds = 0.00074;  // at 10 Hz: 0.74 %
  EXPECT_EQ(run.codes(), Codes{});
  run.profile.boundary_cost_seconds = 0.00076;
  EXPECT_EQ(run.codes(), Codes{"boundary-rate"});
}

TEST(Warnings, AreGivenWhereAClockHasFewerThanAHundredStepsInASegment) {
  Warned run;
  run.profile.clock_resolution_seconds = 0.00099;
  EXPECT_EQ(run.codes(), Codes{});
  run.profile.clock_resolution_seconds = 0.00101;
  EXPECT_EQ(run.codes(), Codes{"clock-resolution"});
}

TEST(Warnings, AreGivenWhereWhatIsNotKnownIsMoreThanTheGreenRange) {
  Warned run;
  run.analysis.coverage_percent = 92.6;
  EXPECT_EQ(run.codes(), Codes{});
  run.analysis.coverage_percent = 92.4;
  EXPECT_EQ(run.codes(), Codes{"partial-coverage"});
  EXPECT_NE(run.message().find("of 8 % of the run time"), std::string::npos) << run.message();
  run.analysis.no_verdict = NoVerdict{{"low-coverage", "why"}};
  EXPECT_EQ(run.codes(), Codes{"low-coverage"});  // which says it already
}

TEST(Warnings, SayThatMostIsKnownOnlyFromTheKernel) {
  Warned run;
  run.analysis.accounted_percent = 49.0;
  EXPECT_EQ(run.codes(), Codes{});
  run.analysis.accounted_percent = 60.0;
  EXPECT_EQ(run.codes(), Codes{"little-repeats"});
  EXPECT_NE(run.message().find("only 40 %"), std::string::npos) << run.message();
}

TEST(Warnings, AreGivenOfSlowChangesThatTakeHalfOfTheGreenRange) {
  Warned run;
  run.analysis.slow_percent = 3.7;
  EXPECT_EQ(run.codes(), Codes{});
  run.analysis.slow_percent = 3.8;
  EXPECT_EQ(run.codes(), Codes{"slow-changes"});
}

TEST(Warnings, AreGivenOfThreadsThatWaitForCoresWhichOthersOfTheRunHave) {
  Warned run;
  const auto set = [&run](Evidence evidence, double value) { run.profile.evidence[index_of(evidence)][0] = value; };
  set(Evidence::own_cpus, 1.0);
  set(Evidence::busy_threads, 2.0);
  set(Evidence::off_cpu, 20.0);
  set(Evidence::cpu_time, 200.0);  // 120 s of it by the other thread
  set(Evidence::cpu_wait, 3.7);
  EXPECT_EQ(run.codes(), Codes{});
  set(Evidence::cpu_wait, 3.8);
  EXPECT_EQ(run.codes(), Codes{"crowded-cores"});
}

TEST(Warnings, SayOfWhichPartsTheProgramMayBeTheCause) {
  Warned run;
  run.analysis.undecided = {.slept_seconds = 8.0, .device_seconds = 1.5, .waited_seconds = 0.5};
  EXPECT_EQ(run.codes(), Codes{});
  run.analysis.methods.front().may_be_own = true;
  EXPECT_EQ(run.codes(), Codes{"perhaps-own"});
  EXPECT_NE(run.message().find("8 s the threads"), std::string::npos) << run.message();
  EXPECT_NE(run.message().find("1.5 s devices"), std::string::npos) << run.message();
  EXPECT_EQ(run.message().find("0.5 s"), std::string::npos) << run.message();  // less than a tenth
}

TEST(Warnings, AreGivenOfARunThatIsNoticeablyAndSurelySlowerThanKnownOnes) {
  Warned run;
  run.analysis.known_runs =
      KnownRuns{.runs = 2, .displacement_seconds = 4.0, .low_seconds = 1.0, .matched_seconds = run_time};
  EXPECT_EQ(run.codes(), Codes{"slower-than-known"});
  EXPECT_NE(run.message().find("the medians of this run"), std::string::npos) << run.message();
  run.analysis.known_runs->low_seconds = -1.0;
  EXPECT_EQ(run.codes(), Codes{});
  run.analysis.known_runs->low_seconds = 1.0;
  run.analysis.known_runs->displacement_seconds = 3.0;
  EXPECT_EQ(run.codes(), Codes{});
  run.analysis.known_runs->matched_seconds = 0.0;  // so that only the parts tell
  run.analysis.known_runs->of_parts = KnownRuns::OfParts{.runs = 2, .beyond_seconds = 4.0, .low_seconds = 1.0};
  EXPECT_EQ(run.codes(), Codes{"slower-than-known"});
  EXPECT_NE(run.message().find("the times of the parts of this run"), std::string::npos) << run.message();
}

TEST(Warnings, NameTheSlowestProbeOfASlowHost) {
  const auto at_speed = [](const char* host, double percent) { return ProbeDisplacement{host, 1.0, 0.01 * percent}; };
  Warned run;
  for (std::optional<ProbeDisplacement>& probe : run.analysis.probes) probe = at_speed("a", 85.0);
  EXPECT_EQ(run.codes(), Codes{});
  run.analysis.probes[index_of(Probe::l2)] = at_speed("b", 84.0);
  EXPECT_EQ(run.codes(), Codes{"slow-l2"});
  run.analysis.probes[index_of(Probe::registers)] = at_speed("b", 84.0);
  EXPECT_EQ(run.codes(), (Codes{"slow-registers", "slow-l2"}));
  Warned of_memory;
  of_memory.analysis.probes[index_of(Probe::memory_latency)] = at_speed("c", 70.0);
  of_memory.analysis.probes[index_of(Probe::memory_bandwidth)] = at_speed("d", 60.0);
  EXPECT_EQ(of_memory.codes(), Codes{"slow-memory"});
  EXPECT_NE(of_memory.message().find("on d had only 60 %"), std::string::npos) << of_memory.message();
}

TEST(Warnings, SayThatNothingTellsWorkApartWithoutACounter) {
  Warned run;
  run.profile.counter = "none";
  EXPECT_EQ(run.codes(), Codes{"no-counter"});
  run.profile.segments = 1;
  run.profile.totals[index_of(Feature::sends_blocking)] = {1, 1};
  EXPECT_EQ(run.codes(), Codes{});
}

}  // namespace
