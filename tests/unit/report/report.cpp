#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/comparison.hpp"
#include "report/csv.hpp"
#include "report/first_lines.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/run_figures.hpp"
#include "report/text.hpp"
#include "report/words.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

std::vector<std::string> keys_of(const nlohmann::ordered_json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

// Also those that only some runs have; tests/documented_keys looks at what one run prints.
TEST(RunFields, AreAllDescribedOnThePageOfMetrics) {
  std::ifstream file(HALCYON_SOURCE_DIR "/docs/export.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  int metrics = 0;
  for (const RunField& field : run_fields()) {
    if (field.metric.empty()) continue;
    ++metrics;
    EXPECT_NE(page.find("`halcyon_" + std::string(field.metric) + "`"), std::string::npos) << field.metric;
  }
  EXPECT_GT(metrics, 0);
}

TEST(HostEvidence, NamesTheHostOfRetransmissionsOnlyWhereOneStandsOut) {
  Profile profile = uniform_profile(100, 1.0, 3);
  profile.rank_host = {"a", "b", "c"};
  std::vector<double>& counts = profile.evidence[index_of(Evidence::tcp_retransmissions)];
  counts = {0.0, 0.0, 4.0};
  EXPECT_EQ(host_evidence_words(profile), "4 TCP retransmissions");
  counts = {2.0, 11.0, 21.0};
  EXPECT_EQ(host_evidence_words(profile), "34 TCP retransmissions");
  counts = {20.0, 25.0, 55.0};
  EXPECT_EQ(host_evidence_words(profile), "100 TCP retransmissions (55 % on c)");
}

TEST(Evidence, SaysWhichThreadsAreMoreThanWhichCores) {
  Profile profile = uniform_profile(100, 1.0);
  const auto words = [&profile](std::vector<double> threads, double own_cpus, double cpus) {
    profile.evidence[index_of(Evidence::busy_threads)] = std::move(threads);
    profile.evidence[index_of(Evidence::own_cpus)] = {own_cpus, own_cpus};
    profile.evidence[index_of(Evidence::cpus)] = {cpus, cpus};
    return evidence_words(profile, Breakdown{});
  };
  EXPECT_EQ(words({2.0, 2.0}, 2.0, 2.0), "2 ranks with 2.0 busy threads each ran on 2 cores");
  EXPECT_EQ(words({1.0, 1.9}, 1.0, 64.0), "rank 1 with 1.9 busy threads was bound to 1 core");
  EXPECT_EQ(words({2.0, 2.0}, 2.0, 4.0), "");
  profile.rank_host = {"left", "right"};
  EXPECT_EQ(words({1.0, 3.0}, 4.0, 2.0), "1 rank with 3.0 busy threads ran on 2 cores of right");
}

TEST(ReportJson, HasExactlyTheKeysOfTheDesign) {
  const Profile profile = uniform_profile(100, 1.0);
  const auto json = report_json("run.h5", profile, analyze(profile, "paper"));
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"file",
                                                     "command",
                                                     "label",
                                                     "note",
                                                     "ranks",
                                                     "hosts",
                                                     "segments",
                                                     "boundary",
                                                     "boundaries",
                                                     "unit",
                                                     "clusters",
                                                     "groups",
                                                     "run_time_seconds",
                                                     "suspended_seconds",
                                                     "undisturbed_time_seconds",
                                                     "undisturbed_interval_seconds",
                                                     "coverage_percent",
                                                     "segment_rate_hz",
                                                     "counter",
                                                     "verdict",
                                                     "probability_high",
                                                     "interference_percent",
                                                     "interference_interval_percent",
                                                     "instantaneous_percent",
                                                     "continuous_percent",
                                                     "speed_percent",
                                                     "slow_ranks_percent",
                                                     "peers",
                                                     "efficiency",
                                                     "time_shares",
                                                     "time_spent_seconds",
                                                     "background_percent",
                                                     "known_runs",
                                                     "witness",
                                                     "probes",
                                                     "cause",
                                                     "method",
                                                     "methods",
                                                     "breakdown",
                                                     "phases",
                                                     "injected_percent",
                                                     "warnings"}));
  EXPECT_TRUE(json["injected_percent"].is_null());
  EXPECT_TRUE(json["background_percent"].is_null());
  EXPECT_EQ(json["interference_interval_percent"].size(), 2u);
  EXPECT_EQ(keys_of(json["methods"]["paper"]),
            (std::vector<std::string>{"interference_percent", "probability_high", "verdict"}));
  EXPECT_EQ(json["verdict"], "green");
}

TEST(ReportJson, TellsTheBackgroundWhereItWasMeasured) {
  Profile profile = uniform_profile(100, 1.0);
  profile.background_before = {{49e-6, 48e-6}, {50e-6, 50e-6}};
  profile.background_after = {{47e-6, 46e-6}, {50e-6, 50e-6}};
  const auto json = report_json("run.h5", profile, analyze(profile, "paper"));
  EXPECT_NEAR(json["background_percent"].get<double>(), 5.0, 1e-9);
}

TEST(ReportJson, TellsHowTheRunComparesWithKnownOnes) {
  Profile profile = uniform_profile(100, 1.0);
  EXPECT_TRUE(report_json("run.h5", profile, analyze(profile, "paper"))["known_runs"].is_null());
  profile.known_runs = KnownRuns{
      .runs = 4, .displacement_seconds = 12.0, .low_seconds = 11.0, .high_seconds = 13.0, .matched_seconds = 100.0};
  const auto json = report_json("run.h5", profile, analyze(profile, "paper"))["known_runs"];
  EXPECT_EQ(json["runs"], 4);
  EXPECT_NEAR(json["displacement_percent"].get<double>(), 12.0, 1e-9);
  EXPECT_NEAR(json["interval"][0].get<double>(), 11.0, 1e-9);
  EXPECT_NEAR(json["interval"][1].get<double>(), 13.0, 1e-9);
}

TEST(ReportText, SaysHowTheRunComparesWithKnownOnes) {
  Profile profile = uniform_profile(100, 1.0);
  const auto words = [&profile](double displacement, double low, double high) {
    profile.known_runs = KnownRuns{2, displacement, low, high, 100.0};
    return known_runs_words(profile);
  };
  EXPECT_EQ(words(12.0, 11.0, 13.0),
            "apart from delays, slower than the best of 2 known runs of this work by 12.0 % of its time (90 % interval "
            "11.0 to 13.0 %)");
  EXPECT_EQ(words(-5.0, -6.0, -4.0),
            "apart from delays, faster than the best of 2 known runs of this work by 4.8 % of their time (90 % "
            "interval 3.8 to 5.7 %)");
  EXPECT_EQ(words(-137.9, -219.0, -57.0),
            "apart from delays, faster than the best of 2 known runs of this work by 58.0 % of their time (90 % "
            "interval 36.3 to 68.7 %)");
  EXPECT_EQ(words(0.05, 0.02, 0.08),
            "apart from delays, as fast as the best of 2 known runs of this work: +0.1 % (90 % interval 0.0 to 0.1 %)");
  EXPECT_EQ(words(33.9, -8.2, 38.7),
            "apart from delays, not known to be slower than the best of 2 known runs of this work: +33.9 % (90 % "
            "interval -7.6 to 38.7 "
            "%)");
  EXPECT_EQ(words(-0.01, -0.02, 0.03),
            "apart from delays, not known to be slower than the best of 2 known runs of this work: +0.0 % (90 % "
            "interval 0.0 to 0.0 %)");
  const Analysis analysis = analyze(profile, "paper");
  EXPECT_NE(report_text("run.h5", profile, analysis, Colour::never).find("not known to be slower than the best of 2"),
            std::string::npos);
  const std::string answers = first_answers(profile, analysis)[1];
  EXPECT_TRUE(answers.ends_with("; not known to differ from the best of 2 known runs")) << answers;
}

// Ten delays of a second on rank 1, in point-to-point calls, half of it off the CPU.
Profile disturbed_profile() {
  Profile profile = uniform_profile(100, 1.0);
  profile.rank_host = {"left", "right"};
  for (std::size_t i = 0; i < 100; i += 10) {
    profile.duration[i] = 2.0F;
    profile.last_rank[i] = 1;
    profile.last_rank_times[static_cast<std::size_t>(TimeKind::point_to_point)][i] = 1.0F;
    profile.last_rank_off_cpu[i] = 0.5F;
  }
  profile.run_time_seconds = 110.0;
  profile.evidence[index_of(Evidence::involuntary_switches)] = {3.0, 4.0};
  profile.evidence[index_of(Evidence::steal)] = {2.0, 3.0};
  profile.evidence[index_of(Evidence::io_pressure)].assign(2, std::numeric_limits<double>::quiet_NaN());
  return profile;
}

TEST(ReportJson, BreaksTheExcessDownInSeconds) {
  const Profile profile = disturbed_profile();
  const auto breakdown = report_json("run.h5", profile, analyze(profile, "paper"))["breakdown"];
  EXPECT_EQ(keys_of(breakdown),
            (std::vector<std::string>{"excess_seconds", "kinds", "ranks", "hosts", "windows", "groups", "evidence"}));
  EXPECT_NEAR(breakdown["kinds"]["point_to_point"], 10.0, 1e-6);
  EXPECT_EQ(keys_of(breakdown["kinds"]),
            (std::vector<std::string>{"computation", "point_to_point", "collective", "file_io", "device"}));
  EXPECT_EQ(breakdown["ranks"][0]["rank"], 1);
  EXPECT_EQ(breakdown["ranks"][0]["host"], "right");
  EXPECT_NEAR(breakdown["ranks"][0]["kinds"]["point_to_point"], 10.0, 1e-6);
  EXPECT_EQ(breakdown["hosts"][0]["host"], "right");
  EXPECT_EQ(breakdown["windows"].size(), 20u);
  EXPECT_EQ(breakdown["groups"][0]["segments"], 100);
  EXPECT_NEAR(breakdown["evidence"]["off_cpu_seconds"], 5.0, 1e-6);
  EXPECT_EQ(breakdown["evidence"]["ranks"][1]["involuntary_switches"], 4);
  EXPECT_EQ(breakdown["evidence"]["hosts"][1]["steal_seconds"], 3.0);
  EXPECT_TRUE(breakdown["evidence"]["hosts"][1]["io_pressure_seconds"].is_null());
}

TEST(ReportJson, HasNoBreakdownWithoutAVerdict) {
  const Profile profile = uniform_profile(1, 1.0);
  EXPECT_TRUE(report_json("run.h5", profile, analyze(profile, "paper"))["breakdown"].is_null());
}

TEST(ReportText, SharesTheExcessAmongKindsAndRanks) {
  Profile profile = disturbed_profile();
  for (const std::size_t i : {0, 10, 20}) {  // three of the ten delays were in computation, of the other rank
    profile.last_rank[i] = 0;
    profile.last_rank_times[static_cast<std::size_t>(TimeKind::point_to_point)][i] = 0.0F;
  }
  const std::string text = report_text("run.h5", profile, analyze(profile, "paper"), Colour::never);
  EXPECT_NE(text.find("by kind         point-to-point 70 %, computation 30 %\n"), std::string::npos) << text;
  EXPECT_NE(text.find("held up by      rank 1 on right 70 %, rank 0 on left 30 %\n"), std::string::npos) << text;
}

TEST(ReportText, SaysWhereTheExcessWent) {
  const Profile profile = disturbed_profile();
  const std::string text = report_text("run.h5", profile, analyze(profile, "paper"), Colour::never);
  EXPECT_NE(text.find("where it went     10.00 s\n    by kind         point-to-point 100 %\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("held up by      rank 1 on right 100 %\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          "segments        100 %  100 segments, normally 1.00 s, ending at\n                    allreduce@app+0x10\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("evidence        for 50 % of the lost time, the slowest rank was off the CPU\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("whole host      the hypervisor took 5.00 s of CPU time\n"), std::string::npos) << text;
}

TEST(ReportText, NamesTheLikelyCauseAndWhatToDoOnItsFirstLines) {
  Profile profile = disturbed_profile();
  profile.evidence[index_of(Evidence::steal)] = {0.0, 0.0};
  const Analysis analysis = analyze(profile, "paper");
  ASSERT_TRUE(analysis.cause);
  EXPECT_EQ(analysis.cause->code, "network");
  const std::string text = report_text("run.h5", profile, analysis, Colour::never);
  EXPECT_LT(text.find("  likely cause      slow point-to-point communication of rank 1 on right"), 700u) << text;
  EXPECT_NE(text.find("  what to do        Measure again on neighbouring hosts. Check what other jobs"),
            std::string::npos)
      << text;
  const auto json = report_json("run.h5", profile, analysis)["cause"];
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"code", "text", "action"}));
  EXPECT_TRUE(
      report_json("run.h5", uniform_profile(100, 1.0), analyze(uniform_profile(100, 1.0), "paper"))["cause"].is_null());
}

TEST(ReportText, HasNoLineBeyondEightyColumns) {
  Profile profile = disturbed_profile();
  profile.places["allreduce@app+0x10"] = {"some::namespaced::function(int, double, std::vector<int>)", "file.cpp:120"};
  const Analysis analysis = analyze(profile, "paper");
  const std::string comparison = comparison_text({"a.h5", profile}, {"b.h5", profile}, compare(profile, profile));
  const std::vector<SummaryRow> rows{summary_row("a.h5", analysis),
                                     summary_row("a/longer/name/of/a/profile.h5", analysis)};
  for (const std::string& text : {report_text("run.h5", profile, analysis, Colour::never), comparison,
                                  closing_lines("run.h5", profile, analysis, Colour::never), summary_text(rows)}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 80u) << line;
  }
}

TEST(ReportText, TellsACallSiteByFunctionAndLineWhereTheyAreKnown) {
  Profile profile = disturbed_profile();
  profile.places["allreduce@app+0x10"] = {"solve", "solve.c:7"};
  const Analysis analysis = analyze(profile, "paper");
  const std::string text = report_text("run.h5", profile, analysis, Colour::never);
  EXPECT_NE(text.find("solve (solve.c:7)\n"), std::string::npos) << text;
  const auto group = report_json("run.h5", profile, analysis)["breakdown"]["groups"][0];
  EXPECT_EQ(group["site"], "allreduce@app+0x10");
  EXPECT_EQ(group["function"], "solve");
  EXPECT_EQ(group["source"], "solve.c:7");
}

TEST(ReportText, ListsNoMethodsWhereThereWasNothingToJudge) {
  const Profile profile = uniform_profile(1, 5.0);
  EXPECT_EQ(report_text("run.h5", profile, analyze(profile, "paper"), Colour::never).find("methods"),
            std::string::npos);
}

TEST(Words, HaveNoNegativeZero) {
  EXPECT_EQ(decimal(-0.04, 1), "0.0");
  EXPECT_EQ(decimal(-0.06, 1), "-0.1");
  EXPECT_EQ(decimal(-0.4, 0), "0");
  EXPECT_EQ(decimal(0.04, 1), "0.0");
  EXPECT_EQ(seconds(-1e-9), "0.00 µs");
  Profile a = uniform_profile(100, 1.0);
  const Profile b = uniform_profile(100, 1.0001);
  const std::string text = comparison_text({"a.h5", a}, {"b.h5", b}, compare(a, b));
  EXPECT_NE(text.find(" 0.0 % of"), std::string::npos) << text;
  EXPECT_EQ(text.find("-0.0 %"), std::string::npos) << text;
}

TEST(Words, GiveBytesAUnitAndCountsTheirThousands) {
  EXPECT_EQ(amount(824560040, "B"), "824.6 MB");
  EXPECT_EQ(amount(999960, "B"), "1.0 MB");
  EXPECT_EQ(amount(999, "B"), "999 B");
  EXPECT_EQ(amount(1234567, "1"), "1 234 567");
  EXPECT_EQ(amount(12, "1"), "12");
}

TEST(ReportText, SaysNothingOfAnExcessThatIsNone) {
  const Profile profile = uniform_profile(100, 1.0);
  const std::string text = report_text("run.h5", profile, analyze(profile, "paper"), Colour::never);
  EXPECT_EQ(text.find("where it went"), std::string::npos);
}

Phases eventful_phases() {
  Phases phases{.stable_from_seconds = 2.0, .stable_to_seconds = 9.95, .end_seconds = 10.0};
  phases.changes.push_back({.from_seconds = 3.1, .to_seconds = 5.0, .factor = 1.6, .ranks = {1}, .hosts = {"a"}});
  phases.changes.push_back({.from_seconds = 7.0, .to_seconds = 8.0, .factor = 0.5, .ranks = {}, .hosts = {}});
  return phases;
}

TEST(Words, SayWhenTheRunStartedUpAndWhenItWasSlower) {
  EXPECT_EQ(
      phases_words(eventful_phases()),
      (std::vector<std::string>{
          "the first 2.00 s (20 %) are start-up: they come before the repeated work, and little of them is judged",
          "between 3.10 s and 5.00 s the same work was 1.6 times slower, held up by rank 1 on a",
          "between 7.00 s and 8.00 s the same work was 2.0 times faster"}));
}

TEST(Words, SayNothingOfPhasesThatAreOne) {
  EXPECT_TRUE(phases_words({.stable_to_seconds = 10.0, .end_seconds = 10.0}).empty());
}

// Rank 1 was killed before it asked the operating system, and rank 2 left nothing.
Profile recovered_profile() {
  Profile profile = uniform_profile(100, 1.0, 3);
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  for (auto& counts : profile.evidence) counts = {0.0, unknown, unknown};
  for (auto& counts : profile.totals) {
    if (!counts.empty()) counts = {7, 9, 0};
  }
  profile.rank_host = {"a", "a", ""};
  profile.rank_run_time[2] = unknown;
  return profile;
}

TEST(RecoveredProfile, HasNullForWhatWasNotMeasured) {
  const Profile profile = recovered_profile();
  const nlohmann::ordered_json info = info_json("run.h5", profile);
  EXPECT_EQ(info["hosts"], nlohmann::ordered_json::array({"a"}));
  EXPECT_EQ(info["totals"]["sends_blocking"], 16);
  EXPECT_EQ(info["totals_per_rank"][1]["sends_blocking"], 9);
  EXPECT_TRUE(info["totals_per_rank"][2].is_null());
  const nlohmann::ordered_json report = report_json("run.h5", profile, analyze(profile, "paper"));
  const nlohmann::ordered_json& ranks = report["breakdown"]["evidence"]["ranks"];
  EXPECT_EQ(ranks[0]["involuntary_switches"], 0);
  EXPECT_TRUE(ranks[1]["involuntary_switches"].is_null());
  EXPECT_TRUE(ranks[2]["cpu_wait_seconds"].is_null());
  EXPECT_EQ(report["breakdown"]["evidence"]["hosts"].size(), 1U);
}

TEST(RecoveredProfile, SaysWhatWasNotMeasured) {
  const Profile profile = recovered_profile();
  EXPECT_EQ(evidence_words(profile, Breakdown{}), "not measured on 1 of 3 ranks");
  const std::string info = info_text("run.h5", profile);
  EXPECT_NE(info.find("ranks             3: 0-1 on a, 2 left nothing\n"), std::string::npos) << info;
  std::istringstream lines(info);
  std::string line;
  while (std::getline(lines, line) && line.find("sends_blocking") == std::string::npos) {
  }
  std::istringstream words(line);
  std::string name;
  int all = 0;
  int least = 0;
  int most = 0;
  words >> name >> all >> least >> most;
  EXPECT_EQ(std::vector<int>({all, least, most}), std::vector<int>({16, 7, 9})) << line;
  const std::string text = report_text("run.h5", profile, analyze(profile, "paper"), Colour::never);
  EXPECT_NE(text.find("3 on a, Open MPI"), std::string::npos) << text;
}

TEST(Words, SayOnlyTheLargestChangesAndHowManyMoreThereWere) {
  Phases phases{.dominant = false, .stable_to_seconds = 10.0, .end_seconds = 10.0};
  for (int i = 0; i < 5; ++i) {
    phases.changes.push_back(
        {.from_seconds = 2.0 * i, .to_seconds = 2.0 * i + 1.0, .factor = 2.0 + i, .added_seconds = 0.1 * i});
  }
  const std::vector<std::string> words = phases_words(phases);
  ASSERT_EQ(words.size(), 5U);
  EXPECT_EQ(words[0], "between 4.00 s and 5.00 s the same work was 4.0 times slower");
  EXPECT_EQ(words[3], "there were 2 smaller changes");
  EXPECT_EQ(words[4], "no level of speed held for more than half of the run");
  phases.changes.pop_back();
  EXPECT_EQ(phases_words(phases)[3], "there was 1 smaller change");
}

TEST(ReportText, LetsNoControlCharacterOfANameThrough) {
  Profile profile = uniform_profile(100, 1.0);
  profile.command = "mpirun python3 -c 'a\nb' \x1b[2J";
  const std::string text = report_text("run.h5", profile, analyze(profile, "paper"), Colour::never);
  EXPECT_NE(text.find("mpirun python3 -c 'a\\nb' \\u001b[2J"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ReportText, ShowsALongCommandInAFewLines) {
  Profile profile = uniform_profile(100, 1.0);
  profile.command = "./app " + std::string(1000000, 'x') + " last";
  const std::string text = report_text("run.h5", profile, analyze(profile, "paper"), Colour::never);
  EXPECT_LT(text.size(), 5000U);
  std::istringstream words(text);  // a long word has a line of its own
  std::string line;
  for (std::string word; words >> word;) line += word + ' ';
  EXPECT_NE(line.find("./app xxx"), std::string::npos) << text;
  EXPECT_NE(line.find(" … xxx"), std::string::npos) << text;
  EXPECT_NE(text.find(" last\n"), std::string::npos) << text;
  EXPECT_EQ(report_json("run.h5", profile, analyze(profile, "paper"))["command"], profile.command);
}

TEST(Json, KeepsWhatSteersATerminalAsEscapes) {
  const std::string text = "\x1b\x7f\xc2\x9b\u202e\u2066\n\u00e9";
  const std::string json = to_text({{"a", text}});
  EXPECT_EQ(json, "{\n  \"a\": \"\\u001b\\u007f\\u009b\\u202e\\u2066\\n\u00e9\"\n}\n");
  EXPECT_EQ(nlohmann::ordered_json::parse(json)["a"], text);
}

TEST(Csv, HasNoFormulas) {
  EXPECT_EQ(csv_text("run.h5"), "run.h5");
  for (const std::string begin : {"=", "+", "-", "@", "\uff1d"}) EXPECT_EQ(csv_text(begin + "1"), "'" + begin + "1");
  EXPECT_EQ(csv_text("\t=1"), "\\t=1");
  EXPECT_EQ(csv_text("=a,\"b\"\r\n"), "\"'=a,\"\"b\"\"\\r\\n\"");
}

TEST(ReportText, SaysWhatToDoWithoutAVerdict) {
  const Profile profile = uniform_profile(1, 1.0);
  const std::string text = report_text("run.h5", profile, analyze(profile, "paper"), Colour::never);
  EXPECT_NE(text.find("[no-boundaries]\n  what to do        Mark its steps with MPI_Pcontrol(1) on all ranks."),
            std::string::npos)
      << text;
}

TEST(ReportText, SaysWhatEndedSegments) {
  Profile profile = uniform_profile(101, 1.0);
  profile.sites = {"allreduce@app+0x10", "barrier@app+0x20", "allreduce@app+0x30", "finalize"};
  profile.site.assign(100, 0);
  profile.site[7] = 1;
  profile.site[8] = 2;
  profile.site.push_back(3);
  const auto text = [&profile] { return report_text("run.h5", profile, analyze(profile, "paper"), Colour::never); };
  EXPECT_NE(text().find("boundaries        allreduce 99, barrier 1\n"), std::string::npos) << text();
  profile.boundary = "auto";
  EXPECT_NE(text().find("allreduce 99, barrier 1 (--boundary auto)\n"), std::string::npos) << text();
}

// The marks along the run, of which the first is 0.
TEST(TimelineFigure, HasMarksInTheUnitOfTheWholeRun) {
  const auto figure_of = [](double seconds_of_segment) {
    const Profile profile = uniform_profile(1000, seconds_of_segment);
    const JudgedRun run = judge(profile);
    return timeline_figure(overview_of(run.profile, run.grouping, run.analysis), {});
  };
  EXPECT_NE(figure_of(2e-3).find(">1 s<"), std::string::npos);
  EXPECT_NE(figure_of(2e-5).find(">10 ms<"), std::string::npos);
  EXPECT_NE(figure_of(2e-8).find(">10 µs<"), std::string::npos);
}

TEST(Layout, GivesATimeTheUnitInWhichItIsRounded) {
  EXPECT_EQ(seconds(0.0), "0 s");
  EXPECT_EQ(seconds(5e-9), "0.01 µs");
  EXPECT_EQ(seconds(999.94e-6), "999.9 µs");
  EXPECT_EQ(seconds(999.97e-6), "1.00 ms");
  EXPECT_EQ(seconds(-0.99997), "-1.00 s");
  EXPECT_EQ(seconds(-0.0123456), "-12.35 ms");
  EXPECT_EQ(seconds(604800.0), "604800.0 s");
}

TEST(Layout, BreaksBetweenWordsButNotBeforeAUnit) {
  const std::string words(50, 'x');
  EXPECT_EQ(wrapped("label", words + " ab 12.00 µs, c"),
            "  label             " + words + " ab\n                    12.00 µs, c\n");
  EXPECT_EQ(wrapped("label", words + " 12.00 c"), "  label             " + words + " 12.00 c\n");
  EXPECT_EQ(wrapped("label", words + words + " c"),
            "  label             " + words + words + "\n                    c\n");
}

TEST(Info, NamesAllHostsOfAFewAndTheirNumberOfMany) {
  Profile profile = uniform_profile(100, 1.0, 64);
  for (int rank = 0; rank < 64; ++rank)
    profile.rank_host[static_cast<std::size_t>(rank)] = "n" + std::to_string(rank / 32);
  EXPECT_NE(info_text("run.h5", profile).find("64: 0-31 on n0, 32-63 on n1\n"), std::string::npos);
  for (int rank = 0; rank < 64; ++rank) profile.rank_host[static_cast<std::size_t>(rank)] = "n" + std::to_string(rank);
  EXPECT_NE(info_text("run.h5", profile).find("64 on 64 hosts, from n0 to n63\n"), std::string::npos);
}

TEST(Suspension, IsToldByInfoAndReport) {
  Profile profile = uniform_profile(100, 1.0);
  EXPECT_EQ(info_text("run.h5", profile).find("suspended"), std::string::npos);
  EXPECT_EQ(info_json("run.h5", profile)["suspended_seconds"], 0.0);
  profile.suspension = Suspension{12.5, 3};
  EXPECT_NE(info_text("run.h5", profile).find("3 times by `halcyon regulate`, 12.50 s in all"), std::string::npos);
  EXPECT_EQ(info_json("run.h5", profile)["suspensions"], 3);
  EXPECT_EQ(report_json("run.h5", profile, analyze(profile, "paper"))["suspended_seconds"], 12.5);
}

TEST(InfoJson, HasExactlyTheKeysOfTheDesign) {
  Profile profile = uniform_profile(100, 1.0);
  profile.totals[index_of(Feature::bytes_sent)] = {5, 7};
  const auto json = info_json("run.h5", profile);
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"schema_version",
                                                     "file",
                                                     "command",
                                                     "label",
                                                     "note",
                                                     "ranks",
                                                     "hosts",
                                                     "mpi",
                                                     "counter",
                                                     "clock",
                                                     "start_time",
                                                     "start_nanoseconds",
                                                     "job",
                                                     "job_step",
                                                     "user",
                                                     "project",
                                                     "cluster",
                                                     "partition",
                                                     "node_list",
                                                     "exit_state",
                                                     "run_time_seconds",
                                                     "suspended_seconds",
                                                     "suspensions",
                                                     "segments",
                                                     "boundary",
                                                     "boundaries",
                                                     "totals",
                                                     "totals_per_rank"}));
  EXPECT_EQ(json["totals"]["bytes_sent"], 12);
  EXPECT_EQ(json["totals_per_rank"][1]["bytes_sent"], 7);
  auto keys = keys_of(json["totals"]);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (std::vector<std::string>{"bytes_collective",
                                            "bytes_read",
                                            "bytes_received",
                                            "bytes_sent",
                                            "bytes_written",
                                            "collectives_all_to_all",
                                            "collectives_all_to_one",
                                            "collectives_one_to_all",
                                            "device_bytes",
                                            "device_items",
                                            "device_launches",
                                            "file_closes",
                                            "file_opens",
                                            "reads",
                                            "receives_blocking",
                                            "receives_nonblocking",
                                            "rma_bytes",
                                            "rma_operations",
                                            "sends_blocking",
                                            "sends_nonblocking",
                                            "writes"}));
}

TEST(Json, OfACommandThatIsNoUtf8IsStillPrinted) {
  Profile profile = uniform_profile(100, 1.0);
  profile.command = "./app \xff";
  EXPECT_NE(to_text(info_json("run.h5", profile)).find("./app \xEF\xBF\xBD"), std::string::npos);
}

TEST(ComparisonText, AnswersInItsFirstLine) {
  const Profile slow = uniform_profile(100, 1.2);
  const Profile fast = uniform_profile(100, 1.0);
  EXPECT_EQ(comparison_text({"slow.h5", slow}, {"fast.h5", fast}, compare(slow, fast))
                .rfind("SAME WORK  B took 20.00 s (16.7 %) less time. A lost ", 0),
            0u);
  const Profile other = uniform_profile(100, 1.0, 3);
  EXPECT_EQ(comparison_text({"a.h5", fast}, {"b.h5", other}, compare(fast, other)).rfind("OTHER WORK", 0), 0u);
}

TEST(ComparisonText, DoesNotTakeTheTimeOfAnotherCommandForInterference) {
  const Profile fast = uniform_profile(100, 1.0);
  Profile slow = uniform_profile(100, 1.2);
  const auto text = [&] { return comparison_text({"slow.h5", slow}, {"fast.h5", fast}, compare(slow, fast)); };
  EXPECT_NE(text().find("interference, "), std::string::npos);
  slow.command = "./other";
  EXPECT_EQ(text().find("interference, "), std::string::npos);
  EXPECT_EQ(text().find("from outside"), std::string::npos);
  EXPECT_NE(text().find("`halcyon repeat --versus`"), std::string::npos);
}

TEST(ComparisonText, SaysWhichRunEndedEarly) {
  const Profile a = uniform_profile(100, 1.0);
  Profile b = uniform_profile(100, 1.0);
  const auto text = [&] { return comparison_text({"a.h5", a}, {"b.h5", b}, compare(a, b)); };
  EXPECT_EQ(text().find("ended early"), std::string::npos);
  b.exit_state = "signal 15";
  EXPECT_NE(text().find("  B ended early     signal 15\n"), std::string::npos) << text();
}

TEST(ComparisonJson, HasNullForWhatIsNotCompared) {
  const Profile a = uniform_profile(100, 1.0);
  const Profile b = uniform_profile(100, 1.0, 3);
  const auto same = comparison_json({"a.h5", a}, {"a.h5", a}, compare(a, a));
  const auto other = comparison_json({"a.h5", a}, {"b.h5", b}, compare(a, b));
  EXPECT_EQ(keys_of(same), keys_of(other));
  EXPECT_EQ(same["same_work"], true);
  EXPECT_TRUE(same["difference"].is_null());
  EXPECT_EQ(same["displacement_seconds"], 0.0);
  EXPECT_EQ(same["groups"].size(), 1u);
  EXPECT_EQ(other["same_work"], false);
  EXPECT_EQ(other["difference"]["code"], "other-ranks");
  EXPECT_TRUE(other["displacement_seconds"].is_null());
  EXPECT_TRUE(other["a"]["disturbed_seconds"].is_null());
  EXPECT_EQ(other["a"]["verdict"], "green");
}

TEST(ReportText, IsColouredOnlyWhenAsked) {
  const Profile profile = uniform_profile(100, 1.0);
  const Analysis analysis = analyze(profile, "paper");
  EXPECT_EQ(report_text("run.h5", profile, analysis, Colour::never).find('\x1b'), std::string::npos);
  EXPECT_NE(report_text("run.h5", profile, analysis, Colour::always).find('\x1b'), std::string::npos);
}

TEST(ReportText, SaysWhyThereIsNoVerdict) {
  const Profile profile = uniform_profile(1, 1.0);
  const std::string text = report_text("run.h5", profile, analyze(profile, "paper"), Colour::never);
  EXPECT_EQ(text.rfind("UNKNOWN", 0), 0u);
  EXPECT_NE(text.find("[no-boundaries]"), std::string::npos);
}

}  // namespace
