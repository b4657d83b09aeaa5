#include "cli/launch/program.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon::cli;

TEST(WordsOfACommand, AreThoseOfAShell) {
  EXPECT_EQ(*words_of_command("mpirun -np 2\t./app"), (Words{"mpirun", "-np", "2", "./app"}));
  EXPECT_EQ(*words_of_command(R"(a 'b  c' "d 'e'" f\ g '' h"i"j)"), (Words{"a", "b  c", "d 'e'", "f g", "", "hij"}));
  EXPECT_EQ(*words_of_command(R"(a '\n' "\n" "\"" \n)"), (Words{"a", "\\n", "\\n", "\"", "n"}));
}

TEST(WordsOfACommand, MayBeInSeveralLines) {
  EXPECT_EQ(*words_of_command("\nmpirun -np 2 \\\n  ./a\\\npp\n  input\n"),
            (Words{"mpirun", "-np", "2", "./app", "input"}));
  EXPECT_EQ(*words_of_command("a 'b\nc'"), (Words{"a", "b\nc"}));
}

TEST(WordsOfACommand, AreWhatWasQuoted) {
  const Words words{"mpirun", "", "a b", "$HOME;", "it's", "\\\"`"};
  EXPECT_EQ(*words_of_command(quoted(words)), words);
}

TEST(WordsOfACommand, AreNotThoseThatAShellWouldActOn) {
  for (const char* text :
       {"a; b", "a | b", "a && b", "a > b", "a < b", "a $HOME", "a `b`", "a \"$HOME\"", "a \"`b`\"", "(a)"}) {
    const halcyon::Outcome<Words> words = words_of_command(text);
    ASSERT_FALSE(words) << text;
    EXPECT_NE(words.failure().message.find("no shell runs the command"), std::string::npos) << words.failure().message;
  }
  EXPECT_EQ(*words_of_command(R"(sh -c 'a; $b | c > d' \$HOME "\$x;")"),
            (Words{"sh", "-c", "a; $b | c > d", "$HOME", "$x;"}));
}

TEST(WordsOfACommand, AreNotFoundInHalfACommand) {
  EXPECT_EQ(words_of_command("a 'b").failure().message, "' is not closed in 'a 'b'");
  EXPECT_EQ(words_of_command(" \n").failure().message, "no launch command given");
}

}  // namespace
