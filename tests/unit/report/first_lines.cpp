// What a run and its report say first, the line for a paper, and what a pipeline of tests gets.
#include <gtest/gtest.h>

#include <sstream>

#include "report/first_lines.hpp"
#include "report/layout.hpp"
#include "report/pipeline.hpp"
#include "report/quote.hpp"
#include "report/text.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using halcyon::testing::uniform_profile;

// Every tenth segment is delayed on rank 1, in point-to-point calls.
Profile delayed_profile(float delay) {
  Profile profile = uniform_profile(200, 1.0);
  profile.rank_host = {"left", "right"};
  for (std::size_t i = 0; i < profile.segments; i += 10) {
    profile.duration[i] += delay;
    profile.last_rank[i] = 1;
    profile.last_rank_times[static_cast<std::size_t>(TimeKind::point_to_point)][i] = delay;
    profile.run_time_seconds += static_cast<double>(delay);
  }
  return profile;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> closing(const std::string& file, const Profile& profile) {
  return lines_of(closing_lines(file, profile, analyze(profile, "paper"), Colour::never));
}

TEST(FirstLines, AnswerFiveQuestionsAndKeepTheCommandForALineOfItsOwnIfItMust) {
  const std::vector<std::string> red = closing("run.h5", delayed_profile(10.0F));
  ASSERT_EQ(red.size(), 6U);
  EXPECT_EQ(red[0].rfind("halcyon: RED      do not quote it: 50.0 % (", 0), 0U) << red[0];
  EXPECT_TRUE(red[0].ends_with(") came from outside")) << red[0];
  EXPECT_EQ(red[1].rfind("halcyon: time     ran 400.0 s; undisturbed 200.0 s (", 0), 0U) << red[1];
  EXPECT_EQ(red[2], "halcyon: cause    slow point-to-point communication of rank 1 on right");
  EXPECT_EQ(red[3], "halcyon: rank     rank 1 on right 100 % of what was lost");
  EXPECT_EQ(red[4], "halcyon: next     measure again on neighbouring hosts; details:");
  EXPECT_EQ(red[5], "                  halcyon report run.h5");
}

TEST(FirstLines, OfAGreenRunLeadToTheLineForAPaper) {
  const std::vector<std::string> green = closing("my run.h5", uniform_profile(200, 1.0));
  ASSERT_EQ(green.size(), 6U);
  EXPECT_EQ(green[0].rfind("halcyon: GREEN    quote it: 0.0 % (", 0), 0U) << green[0];
  EXPECT_EQ(green[2], "halcyon: cause    nothing stands out");
  EXPECT_EQ(green[3], "halcyon: rank     none stands out");
  EXPECT_EQ(green[4], "halcyon: next     quote its time; a sentence for it:");
  EXPECT_EQ(green[5], "                  halcyon report 'my run.h5' --quote text");
}

TEST(FirstLines, OfAnUnknownRunSayWhyAndWhatHelps) {
  const std::vector<std::string> unknown = closing("run.h5", uniform_profile(1, 5.0));
  ASSERT_EQ(unknown.size(), 6U);
  EXPECT_EQ(unknown[0], "halcyon: UNKNOWN  do not quote it yet: the program has no boundaries");
  EXPECT_EQ(unknown[1], "halcyon: time     ran 5.00 s; undisturbed: not known");
  EXPECT_EQ(unknown[2], "halcyon: cause    not known");
  EXPECT_EQ(unknown[3], "halcyon: rank     not known");
  EXPECT_EQ(unknown[4], "halcyon: next     mark its steps with MPI_Pcontrol(1) on all ranks; details:");
  EXPECT_EQ(unknown[5], "                  halcyon report run.h5");
}

TEST(FirstLines, OfAReportAreThoseOfTheRunButForTheCommandThatLeadsOn) {
  for (const Profile& profile : {delayed_profile(10.0F), uniform_profile(200, 1.0), uniform_profile(1, 5.0)}) {
    const std::vector<std::string> run = closing("run.h5", profile);
    const std::vector<std::string> report =
        lines_of(report_text("run.h5", profile, analyze(profile, "paper"), Colour::never));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ("halcyon: " + report[i], run[i]);
    EXPECT_EQ(report[4].substr(0, 20), run[4].substr(9, 20));
  }
}

TEST(FirstLines, DoNotCallARunQuotableThatDidNotEnd) {
  Profile profile = uniform_profile(200, 1.0);
  profile.exit_state = "killed by SIGTERM";
  const std::vector<std::string> lines = closing("run.h5", profile);
  EXPECT_EQ(lines[0].rfind("halcyon: GREEN    do not quote it: the run did not come to its end; ", 0), 0U) << lines[0];
  for (const std::string& line : lines) EXPECT_EQ(line.find("--quote"), std::string::npos) << line;
}

TEST(FirstLines, KeepACommandInOnePieceAndAllElseWithinEightyColumns) {
  const std::string file = "a/long/directory/of/profiles/with/app.2p.4711.20261128T183000.h5";
  for (const Profile& profile : {delayed_profile(10.0F), uniform_profile(200, 1.0), uniform_profile(1, 5.0)}) {
    bool is_whole = false;
    for (const std::string& line : closing(file, profile)) {
      const bool has_command = line.find("halcyon report " + file) != std::string::npos;
      is_whole = is_whole || has_command;
      EXPECT_TRUE(has_command || columns_of(line) <= 80) << line;
    }
    EXPECT_TRUE(is_whole);
  }
}

TEST(FirstLines, ColourOnlyTheVerdict) {
  const Profile profile = uniform_profile(200, 1.0);
  const Analysis analysis = analyze(profile, "paper");
  EXPECT_EQ(closing_lines("run.h5", profile, analysis, Colour::always).rfind("halcyon: \x1b[1;32mGREEN\x1b[0m  ", 0),
            0U);
  EXPECT_EQ(report_text("run.h5", profile, analysis, Colour::always).rfind("\x1b[1;32mGREEN\x1b[0m  ", 0), 0U);
}

TEST(FirstLines, NameTheRankWithMoreWorkAndTheProgramAsTheCause) {
  const Profile profile = uniform_profile(200, 1.0);
  Analysis analysis = analyze(profile, "paper");
  analysis.peers.more_work.push_back({.rank = 1, .times = 1.5, .whose = Whose::program});
  const FirstAnswers answers = first_answers(profile, analysis);
  EXPECT_EQ(answers[2], "nothing from outside stands out; the program's own: unequal work of its ranks");
  EXPECT_EQ(answers[3], "rank 1 has 1.50 times the CPU time of its peers");
}

TEST(FirstLines, DoNotBlameARankThatLostHardlyMoreThanTheOther) {
  Profile profile = delayed_profile(10.0F);
  for (std::size_t i = 0; i < profile.segments; i += 20) profile.last_rank[i] = 0;
  const FirstAnswers answers = first_answers(profile, analyze(profile, "paper"));
  EXPECT_EQ(answers[3], "all alike: rank 0 on left 50 %, rank 1 on right 50 % of what was lost");
}

TEST(FirstLines, OfARunThatMayBeRedOrGreenLeadToTheCommandThatRepeatsIt) {
  const Profile profile = uniform_profile(200, 1.0);
  Analysis analysis = analyze(profile, "paper");
  analysis.methods[analysis.chosen].verdict = Verdict::unknown;
  analysis.no_verdict = no_verdict_within({.low = 5.0, .high = 20.0});
  const NextCommand next = next_command("run.h5", profile, analysis, ReadIn::report);
  EXPECT_EQ(first_answers(profile, analysis)[4], "repeat it until its time is known");
  EXPECT_EQ(next.words, "halcyon repeat -- mpirun ...");
}

TEST(FirstLines, NameWhoHadTheCpusIfAWitnessSawIt) {
  Profile profile = delayed_profile(10.0F);
  const double lost = 200.0;
  for (auto& times : profile.last_rank_times) times.assign(profile.segments, 0.0F);
  profile.last_rank_off_cpu.assign(profile.segments, 0.0F);
  for (std::size_t i = 0; i < profile.segments; i += 10) profile.last_rank_off_cpu[i] = 10.0F;
  for (auto& counts : profile.evidence) counts.assign(2, 0.0);
  profile.evidence[index_of(Evidence::off_cpu)] = {0.0, lost};
  profile.evidence[index_of(Evidence::cpu_wait)] = {0.0, lost};
  profile.witnessed = {.by = "switches", .seconds = 400.0, .waited_seconds = lost};
  profile.witnessed.add({.whose = PartyKind::other_job, .program = "cc1plus", .user = "ann", .job = "4711"}, 150.0);
  const std::vector<std::string> red = closing("run.h5", profile);
  EXPECT_EQ(red[2], "halcyon: cause    other processes on the same cores: cc1plus of ann, job 4711");
  EXPECT_EQ(red[3], "                  (75 %)");
}

TEST(Quote, IsALineForAPaperInEachForm) {
  const Profile profile = uniform_profile(200, 1.0);
  const Analysis analysis = analyze(profile, "paper");
  const std::string end = std::string(", one run of 200.0 s, Halcyon ") + HALCYON_VERSION + "\n";
  EXPECT_EQ(quote_of_run(profile, analysis, QuoteForm::text),
            "200.0 s undisturbed (90 % interval 200.0 to 200.0)" + end);
  EXPECT_EQ(quote_of_run(profile, analysis, QuoteForm::markdown),
            "**200.0 s** undisturbed (90 % interval 200.0 to 200.0)" + end);
  EXPECT_EQ(quote_of_run(profile, analysis, QuoteForm::latex),
            std::string("200.0\\,s undisturbed (90\\,\\% interval 200.0 to 200.0), one run of 200.0\\,s, Halcyon ") +
                HALCYON_VERSION + "\n");
}

TEST(Quote, SaysWhatMakesATimeDoubtful) {
  const Profile red = delayed_profile(10.0F);
  EXPECT_NE(quote_of_run(red, analyze(red, "paper"), QuoteForm::text)
                .find("one run of 400.0 s, of which 50.0 % came from outside (red), Halcyon"),
            std::string::npos);
  const Profile unknown = uniform_profile(1, 5.0);
  EXPECT_EQ(quote_of_run(unknown, analyze(unknown, "paper"), QuoteForm::text)
                .rfind("5.00 s as measured in one run, and how much of it came from outside is not known", 0),
            0U);
}

TEST(Quote, GivesAHalfWidthTwoDigits) {
  EXPECT_EQ(with_half_width(5.0234, 0.0612), "5.023 ± 0.061 s");
  EXPECT_EQ(with_half_width(5.0234, 0.612), "5.02 ± 0.61 s");
  EXPECT_EQ(with_half_width(523.4, 12.3), "523 ± 12 s");
  EXPECT_EQ(with_half_width(0.5234, 0.0123), "523 ± 12 ms");
}

const std::vector<CheckedRun> one_of_each{
    {"a,b:100%.h5", CheckOutcome::failed, 2.0, "red", "50 % lost, or <more>", "line 1\nline 2 & \x1b[2J"},
    {"u.h5", CheckOutcome::unknown, 1.0, "unknown", "cannot tell", ""},
    {"ok.h5", CheckOutcome::unknown_passed, 1.0, "unknown", "cannot tell", ""},
    {"g.h5", CheckOutcome::passed, 1.0, "green", "quote it", ""}};

TEST(Annotations, EscapeWhatGitHubWouldReadAsTheEndOfAValue) {
  EXPECT_EQ(github_annotations(one_of_each),
            "::error title=a%2Cb%3A100%25.h5%3A red::50 %25 lost, or <more>\n"
            "::error title=u.h5%3A unknown::cannot tell\n"
            "::warning title=ok.h5%3A unknown::cannot tell\n"
            "::notice title=g.h5%3A green::quote it\n");
  EXPECT_EQ(github_annotations({{"a\nb\r.h5", CheckOutcome::passed, 1.0, "green", "x\r\ny", ""}}),
            "::notice title=a\\nb\\r.h5%3A green::x\\r\\ny\n");
}

TEST(JUnit, CountsWhatFailedIsUnknownOrSkipped) {
  const std::string xml = junit_xml(one_of_each);
  EXPECT_NE(xml.find("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"5.000000\""), std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<failure type=\"red\" message=\"50 % lost, or &lt;more&gt;\">line 1\nline 2 &amp; \\u001b[2J\n"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("name=\"g.h5\" time=\"1.000000\"/>"), std::string::npos) << xml;
}

}  // namespace
