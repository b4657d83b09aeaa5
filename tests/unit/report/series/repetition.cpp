// What a reader of `halcyon repeat` sees of a series of runs.
#include "report/series/repetition.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/series/repetition_data.hpp"
#include "report/series/repetition_page.hpp"

namespace {

using namespace halcyon;

// Lines joined, since long ones continue on the next.
std::string joined(const std::string& text) {
  std::istringstream in(text);
  std::string all;
  for (std::string word; in >> word;) all += word + " ";
  return all;
}

bool says(const Repetition& series, std::string_view words) {
  return joined(repetition_text(series)).find(words) != std::string::npos;
}

ListedRun listed(double measured, double undisturbed, Program program = first_program) {
  ListedRun run{.name = "run-001", .program = program, .interference_percent = 100.0 * (1.0 - undisturbed / measured)};
  run.run.measured_seconds = measured;
  run.run.undisturbed = {undisturbed, {0.999 * undisturbed, 1.001 * undisturbed}};
  run.run.verdict = verdict_of(run.interference_percent);
  run.run.hosts = {"node"};
  return run;
}

// As `halcyon repeat` does it after the last run.
void evaluate(Repetition& series, const SeriesRequest& request = {}) {
  series.precision = request.precision;
  series.summary = summarise(runs_of(series, first_program), request);
  for (Program other = 1; other < programs_of(series); ++other) {
    series.others[other - 1].summary = summarise(runs_of(series, other), request);
    series.others[other - 1].versus =
        compare_pairs(pairs_of(series, other), of_each_comparison(request.precision, series.others.size()));
  }
}

constexpr Program b = 1;
constexpr std::array<double, 8> steady{10.01, 9.98, 10.02, 9.99, 10.0, 10.03, 9.97, 10.01};

Repetition of_one_program() {
  Repetition series{.command = "a"};
  for (const double seconds : steady) series.runs.push_back(listed(seconds, seconds));
  evaluate(series);
  return series;
}

// Each takes so many times as long as A.
Repetition of_programs(const std::vector<double>& slower) {
  Repetition series{.command = "a"};
  for (Program other = 1; other <= slower.size(); ++other) {
    series.others.push_back({.command = "program-" + letter_of(other)});
  }
  for (const double seconds : steady) {
    series.runs.push_back(listed(seconds, seconds));
    for (Program other = 1; other <= slower.size(); ++other) {
      // A ratio that is the same in all pairs would have no interval.
      const double time =
          slower[other - 1] * (seconds + (seconds > 10.0 ? 0.001 : -0.001) * static_cast<double>(other));
      series.runs.push_back(listed(time, time, other));
    }
  }
  evaluate(series);
  return series;
}

Repetition of_two_programs(double slower = 1.0) { return of_programs({slower}); }

// Undisturbed times above the measured ones are impossible.
void make_impossible(Repetition& series, Program program) {
  for (ListedRun& run : series.runs) {
    if (run.program == program) run = listed(run.run.measured_seconds, 1.1 * run.run.measured_seconds, program);
  }
  evaluate(series);
}

TEST(RepetitionText, TellsOfBothProgramsWhatIsKnownOfTheirRuns) {
  Repetition series = of_two_programs();
  for (ListedRun& run : series.runs) {  // no run of B was quiet
    if (run.program == b) run = listed(2.0 * run.run.measured_seconds, run.run.measured_seconds, b);
  }
  series.runs[1].run.hosts = {"node", "other"};
  evaluate(series, {.warm_up_runs = 1});
  EXPECT_TRUE(says(series, "A: hosts 1 host"));
  EXPECT_TRUE(says(series, "B: hosts 2 hosts"));
  EXPECT_TRUE(says(series, "A, B: warm-up the first 1 run left out"));
  EXPECT_TRUE(says(series, "A, B: note with so few runs"));
  EXPECT_TRUE(says(series, "B: note no run was"));
  EXPECT_FALSE(says(series, "A: note no run was"));
  EXPECT_TRUE(says(series, "left out 1 pair: "));
}

TEST(RepetitionText, TellsWhichProgramsMeansContradictEachOther) {
  Repetition series = of_two_programs();
  make_impossible(series, b);
  EXPECT_TRUE(says(series, "B: CONTRADICTION the undisturbed mean is"));
  EXPECT_FALSE(says(series, "A: CONTRADICTION"));
}

TEST(RepetitionText, NamesNoProgramIfThereIsOnlyOne) {
  EXPECT_TRUE(says(of_one_program(), " hosts 1 host"));
  EXPECT_FALSE(says(of_one_program(), "A: "));
}

// Each interval reaches so far to both sides, as a share of the time.
Repetition with_reach(double reach) {
  Repetition series = of_one_program();
  for (ListedRun& run : series.runs) {
    const double seconds = run.run.undisturbed->seconds;
    run.run.undisturbed->interval_seconds = {seconds * (1.0 - reach), seconds * (1.0 + reach)};
  }
  evaluate(series);
  return series;
}

TEST(RepetitionText, TellsTheFloorWhereItIsMostOfTheInterval) {
  EXPECT_TRUE(
      says(with_reach(0.01), " floor all of the ±1.0 % may be an error of Halcyon's estimates, the same in all runs."));
  EXPECT_TRUE(says(with_reach(0.002), " floor ±0.2 % of the ±0.3 % may be an error"));
  EXPECT_FALSE(says(with_reach(0.0001), " floor "));
}

TEST(RepetitionText, TellsTheFloorOnceIfItEndedTheSeries) {
  Repetition series = with_reach(0.03);
  series.outlook.stopped_because = StoppedBecause::floor;
  EXPECT_TRUE(says(series, "±2.0 % cannot be reached: the floor is 3.0 %"));
  EXPECT_FALSE(says(series, " floor ±"));
}

// Half of the runs that were asked for are made.
Repetition half_of(Repetition series) {
  const std::size_t made = series.runs.size() / programs_of(series);
  series.rule = {.least_runs = 2 * made, .most_runs = 2 * made, .is_exact = true};
  series.outlook.most_further = made;
  return series;
}

TEST(RepetitionText, TellsThatSoManyRunsWereAskedFor) {
  Repetition of_one = half_of(of_one_program());
  of_one.outlook.stopped_because = StoppedBecause::max_runs;
  EXPECT_TRUE(says(of_one, "stopped because 16 runs were asked for (--runs)"));
  Repetition of_two = half_of(of_two_programs());
  of_two.outlook.stopped_because = StoppedBecause::max_runs;
  EXPECT_TRUE(says(of_two, "stopped because 16 pairs were asked for (--runs)"));
  of_two.rule.is_exact = false;
  EXPECT_TRUE(says(of_two, "stopped because the maximum number of pairs is reached (--max-runs)"));
}

TEST(Outlook, TellsHowManyOfTheRunsThatWereAskedForAreMade) {
  Repetition series = half_of(of_one_program());
  EXPECT_EQ(next_run_words(series), "run 9 of 16");
  EXPECT_EQ(outlook_words(series).rfind("±", 0), 0U);
  EXPECT_TRUE(outlook_words(series).ends_with(" % so far")) << outlook_words(series);
  series.runs.resize(1);
  evaluate(series);
  EXPECT_EQ(outlook_words(series), "");
  EXPECT_EQ(next_run_words(half_of(of_two_programs())), "pair 9 of 16");
  EXPECT_EQ(next_run_words(of_two_programs()), "run 17");
}

TEST(RepetitionText, ExplainsWhyAMeanOrTheRunsItNeedsAreUnknown) {
  EXPECT_FALSE(says(of_one_program(), "never"));
  EXPECT_TRUE(
      says(with_reach(0.03), " never need: total number of runs to know this mean to ±2.0 %; never: the floor"));
  Repetition series = of_one_program();
  for (ListedRun& run : series.runs) run.run.verdict = Verdict::red;
  evaluate(series);
  EXPECT_TRUE(says(series, "green or yellow, measured 0 none none none none"));
  series.runs.front().run.verdict = Verdict::green;
  evaluate(series);
  EXPECT_TRUE(says(series, "green or yellow, measured 1 10.01 s none none unknown"));
}

TEST(RepetitionText, BeginsWithAContradiction) {
  Repetition series = of_one_program();
  EXPECT_TRUE(repetition_text(series).starts_with("KNOWN  "));
  make_impossible(series, first_program);
  EXPECT_TRUE(repetition_text(series).starts_with("CONTRADICTION  undisturbed, a run takes "));
  EXPECT_TRUE(says(series, "but the means contradict each other"));
}

TEST(Comparison, IsAContradictionIfTheMeansOfAProgramContradictEachOther) {
  Repetition series = of_two_programs(1.5);
  EXPECT_EQ(versus_verdict(series, b), VersusVerdict::slower);
  for (const Program program : {first_program, b}) {
    Repetition contradicting = series;
    make_impossible(contradicting, program);
    EXPECT_EQ(versus_verdict(contradicting, b), VersusVerdict::contradiction);
    EXPECT_TRUE(repetition_text(contradicting).starts_with("CONTRADICTION  B takes "));
    EXPECT_EQ(repetition_json(contradicting)["versus"]["verdict"], "contradiction");
    EXPECT_FALSE(says(contradicting, "to decide"));
  }
  make_impossible(series, first_program);
  EXPECT_TRUE(says(series, "but the means of A contradict each other"));
  make_impossible(series, b);
  EXPECT_TRUE(says(series, "but the means of A and of B contradict each other"));
}

TEST(Cost, HasAnIntervalThatEndsAtZeroUnlessItIsItselfBelowZero) {
  EXPECT_EQ(interval_of({.seconds = 1.0, .interval_seconds = {-2.0, 4.0}}).low, 0.0);
  EXPECT_EQ(interval_of({.seconds = -1.0, .interval_seconds = {-2.0, -0.5}}).low, -2.0);
  Repetition series{.command = "a", .work = WorkSeries{.name = "N", .range = {1, 2}, .rate = WorkRate{}}};
  series.work->rate->fixed = {.seconds = 1.0, .interval_seconds = {-2.0, 4.0}};
  EXPECT_TRUE(says(series, "fixed 1.00 s (0 s to 4.00 s)"));
  EXPECT_EQ(repetition_json(series)["work"]["fixed"]["interval_seconds"][0], 0.0);
}

TEST(RepetitionText, NamesTheSecondMeanByTheVerdictsThatCount) {
  Repetition series = of_one_program();
  series.runs[0].run.verdict = Verdict::unknown;
  series.runs[1].run.verdict = Verdict::yellow;
  evaluate(series);
  EXPECT_TRUE(says(series, "green or yellow, measured 7 "));
  EXPECT_FALSE(says(series, "not red"));
}

TEST(RepetitionText, HasASpaceBetweenAllColumns) {
  Repetition series = of_one_program();
  series.summary.measured.random_seconds = 25.7 * series.summary.measured.mean_seconds;
  series.summary.measured.runs_needed = 1'205'140;
  for (ListedRun& run : series.runs) run.run = listed(123456.7, 123456.7).run;
  EXPECT_TRUE(says(series, "2570 % 1205140"));
  EXPECT_TRUE(says(series, "run-001 123456.7 s 123456.7 s 123333.2 s to 123580.2 s 0.0 % green"));
}

TEST(RepetitionText, ShowsTheConfidenceInFull) {
  Repetition series = of_one_program();
  for (const auto& [confidence, words] : {std::pair{0.9985, "99.85 %"}, {0.95, "95 %"}, {0.99999, "99.999 %"}}) {
    evaluate(series, {.precision = {.confidence = confidence}});
    EXPECT_TRUE(says(series, std::string(words) + " confidence")) << words;
    EXPECT_TRUE(says(series, std::string(words) + " interval")) << words;
    EXPECT_NE(repetition_html(series).find(std::string(words) + " intervals"), std::string::npos) << words;
  }
}

std::size_t count(const std::string& text, std::string_view words) {
  std::size_t times = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++times;
  return times;
}

TEST(RepetitionPage, MarksTheRunsThatDoNotCount) {
  constexpr std::string_view mark = "class=\"unused\"";
  Repetition series = of_one_program();
  EXPECT_EQ(count(repetition_html(series), mark), 0U);
  EXPECT_EQ(count(repetition_html(series), ">×<"), 0U);
  series.runs[2].run.end = RunEnd::failed;
  series.runs[3].run.end = RunEnd::other_work;
  evaluate(series, {.warm_up_runs = 1});
  EXPECT_EQ(count(repetition_html(series), mark), 2 * 4U) << "circle and diamond of two runs, for two screens";
  EXPECT_EQ(count(repetition_html(series), ">×<"), 2 * 1U);
}

TEST(RepetitionPage, MarksThePairsThatDoNotCount) {
  Repetition series = of_two_programs();
  evaluate(series, {.warm_up_runs = 1});
  EXPECT_EQ(count(repetition_html(series), "class=\"unused\""), 2 * 5U) << "two runs and their pair";
}

TEST(RepetitionPage, MarksTheWorkThatDoesNotCount) {
  Repetition series = of_one_program();
  series.work = WorkSeries{.name = "N", .range = {1, 2}, .rate = WorkRate{}};
  evaluate(series, {.warm_up_runs = 1});
  EXPECT_EQ(count(repetition_html(series), "class=\"unused\""), 2 * 3U) << "in both pictures";
}

// The ranks of programs, as a reader finds them in the text.
TEST(Family, IsRankedWithTheFastestFirst) {
  const Repetition series = of_programs({1.1, 0.9, 1.0});
  EXPECT_TRUE(repetition_text(series).starts_with(
      "RANKED  C is faster than A, D is the same as A within 2.0 %, B is slower than A\n"
      "        (95 % confidence of all together, 8 rounds)\n"))
      << repetition_text(series);
  EXPECT_TRUE(says(series, "program place times as long as A C 1 0.9"));
  EXPECT_TRUE(says(series, "A 2–3 1 compared with"));
  EXPECT_TRUE(says(series, ") same, undisturbed"));
  EXPECT_TRUE(says(series, "D program-D"));
  EXPECT_TRUE(says(series, "all: hosts 1 host"));
  const nlohmann::ordered_json ranking = repetition_json(series)["ranking"];
  EXPECT_EQ(ranking.front(), (nlohmann::ordered_json{{"program", "c"}, {"first_place", 1}, {"last_place", 1}}));
  EXPECT_EQ(ranking.back()["program"], "b");
}

TEST(Family, IsUnclearIfOneComparisonIs) {
  Repetition series = of_programs({1.1, 1.0});
  series.others.back().versus.verdict = VersusVerdict::unclear;
  EXPECT_TRUE(repetition_text(series).starts_with("UNCLEAR  B is slower than A, C is not yet told from A ("));
  make_impossible(series, 2);
  EXPECT_TRUE(repetition_text(series).starts_with("CONTRADICTION  B is slower than A, C is a contradiction ("));
}

TEST(Family, HasWiderIntervalsThanAPair) {
  const auto width = [](const Repetition& series) {
    const Interval& interval = *series.others.front().versus.answer().interval;
    return interval.high - interval.low;
  };
  EXPECT_GT(width(of_programs({1.1, 1.0})), 1.05 * width(of_programs({1.1})));
}

TEST(Family, CountsRounds) { EXPECT_EQ(next_run_words(half_of(of_programs({1.0, 1.0}))), "round 9 of 16"); }

TEST(SeriesPage, BeginsWithTheAnswerAndNamesAllPrograms) {
  const std::string page = repetition_html(of_programs({1.1, 0.9}));
  EXPECT_NE(page.find("<title>A: a · B: program-B · C: program-C"), std::string::npos);
  const std::size_t answer = page.find(">RANKED</h2>");
  ASSERT_NE(answer, std::string::npos);
  EXPECT_LT(answer, page.find("<svg"));
  EXPECT_LT(answer, page.find("<table"));
  for (const std::string_view chip : {"chip p0\">A<", "chip p1\">B<", "chip p2\">C<"}) {
    EXPECT_GE(count(page, chip), 3U) << chip << ": of its command, of its means, of the ranking";
  }
}

}  // namespace
