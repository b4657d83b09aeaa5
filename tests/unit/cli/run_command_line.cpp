// What is said of a command line that is wrong: what to type, in the words of the help.
#include "cli/run_command_line.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/console/output.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "tests/unit/synthetic_profile.hpp"
#include "tests/unit/temporary_directory.hpp"

namespace {

using namespace halcyon::cli;

// The error of `halcyon WORDS`.
std::string said_to(std::vector<std::string> words, int status = bad_usage_or_file) {
  words.insert(words.begin(), "halcyon");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_command_line(static_cast<int>(arguments.size()), arguments.data()), status);
  return ::testing::internal::GetCapturedStderr();
}

TEST(CommandLine, WithoutACommandIsToldWhereTheyAreListed) {
  EXPECT_EQ(said_to({}), "halcyon: a command is required: halcyon --help lists them\n");
  EXPECT_EQ(said_to({"baselines"}), "halcyon: a command is required: halcyon baselines --help lists them\n");
  EXPECT_EQ(said_to({"baselines", "--all"}), "halcyon: a command is required: halcyon baselines --help lists them\n");
  EXPECT_EQ(said_to({"baselines", "forgt"}),
            "halcyon: there is no command 'baselines forgt'. Did you mean: forget? (see halcyon baselines --help)\n");
}

TEST(CommandLine, OfACommandOfACommandIsToldWhereItsOwnHelpIs) {
  EXPECT_EQ(said_to({"ledger", "lost"}), "halcyon: --database is required (see halcyon ledger lost --help)\n");
  EXPECT_EQ(said_to({"ledger", "losst"}),
            "halcyon: there is no command 'ledger losst'. Did you mean: lost? (see halcyon ledger --help)\n");
}

TEST(CommandLine, OfAnOptionWithoutItsValueIsToldWhatToType) {
  EXPECT_EQ(said_to({"report", "run.h5", "--html"}),
            "halcyon: --html has no value: type --html FILE (see halcyon report --help)\n");
  EXPECT_EQ(said_to({"report", "run.h5", "--fail-on"}),
            "halcyon: --fail-on has no value: type --fail-on yellow|red (see halcyon report --help)\n");
  EXPECT_EQ(said_to({"repeat", "-r"}), "halcyon: --runs has no value: type --runs N (see halcyon repeat --help)\n");
  EXPECT_EQ(said_to({"baselines", "export", "-o"}),
            "halcyon: --output has no value: type --output FILE (see halcyon baselines export --help)\n");
}

TEST(CommandLine, OfAnOptionThatIsGivenTwiceIsToldSo) {
  EXPECT_EQ(said_to({"repeat", "-r", "5", "--runs", "6"}),
            "halcyon: --runs may be given only once (see halcyon repeat --help)\n");
}

TEST(CommandLine, OfAWrongValueIsToldWhichAreRight) {
  EXPECT_EQ(said_to({"report", "run.h5", "--fail-on", "purple"}),
            "halcyon: --fail-on: 'purple' is not yellow or red (see halcyon report --help)\n");
  EXPECT_EQ(said_to({"report", "run.h5", "--method", "magic"}),
            "halcyon: --method: 'magic' is not compound or paper (see halcyon report --help)\n");
  for (const std::string wrong : {"abc", "1", "2.5", "100001", "99999999999999999999"}) {
    EXPECT_EQ(said_to({"repeat", "--runs", wrong}), "halcyon: --runs: '" + wrong +
                                                        "' is not a whole number from 2 to 100000 "
                                                        "(see halcyon repeat --help)\n");
  }
  for (const std::string wrong : {"abc", "-1"}) {
    EXPECT_EQ(said_to({"disturb", "cpu", "--seed=" + wrong}),
              "halcyon: --seed: '" + wrong + "' is not a whole number from 0 (see halcyon disturb --help)\n");
  }
}

TEST(CommandLine, IsToldOfAWrongConditionBeforeAMissingJob) {
  EXPECT_EQ(said_to({"watch", "--stop-if", "foo > 3"}),
            "halcyon: --stop-if: 'foo > 3', column 1: 'foo' is none of interference, rate, standstill\n");
  EXPECT_EQ(said_to({"watch", "--publish", "live", "--warn-if", "rate"}),
            "halcyon: --warn-if: 'rate', column 5: expected < or >\n");
}

TEST(CommandLine, OfADamagedProfileIsToldHowToGetAWholeOne) {
  const halcyon::testing::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "cut.h5";
  std::ofstream(file) << "\x89HDF\r\n\x1a\n and no more";
  const std::string told = "halcyon: " + file.string() +
                           " is damaged: HDF5 cannot open it (truncated?); copy it again, or make it anew from its "
                           "parts (halcyon recover)\n";
  for (const std::string command : {"report", "info", "recover"})
    EXPECT_EQ(said_to({command, file.string()}, bad_usage_or_file), told);
}

TEST(CommandLine, OfAWholeProfileInPlaceOfPartsIsToldThatThereIsNothingToRecover) {
  const halcyon::testing::TemporaryDirectory directory;
  const std::string file = (directory.path() / "whole.h5").string();
  ASSERT_TRUE(halcyon::write_profile(halcyon::testing::uniform_profile(100, 1.0), file));
  EXPECT_EQ(said_to({"recover", file}, bad_usage_or_file),
            "halcyon: " + file + " is a finished profile: nothing to recover\n");
  EXPECT_EQ(said_to({"recover", file + ".parts"}, bad_usage_or_file),
            "halcyon: " + file + ".parts is not there any more: " + file + " is the profile of these parts\n");
}

}  // namespace
