#include "libprofile/system/legible.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon;

TEST(Legible, KeepsLettersSignsAndWhatItWroteItself) {
  for (const char* text : {"", "mpirun -np 4 ./app 'a b' \\ \"", "Größe, 漢字, 🚀, نص, µs …", "a\\n\\u001b\\xff"}) {
    EXPECT_EQ(legible(text), text);
    EXPECT_EQ(legible(legible(text)), text);
  }
}

TEST(Legible, WritesWhatSteersATerminalAsJsonDoes) {
  EXPECT_EQ(legible("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(legible("\x1b[2J\x07\x7f"), "\\u001b[2J\\u0007\\u007f");
  EXPECT_EQ(legible(std::string_view("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(legible("\xc2\x9b"
                    "2J\xc2\x85"),
            "\\u009b2J\\u0085");
  EXPECT_EQ(legible("exe.\u202egpj\u2066 \u2069\u200f\u061c\u2028"),
            "exe.\\u202egpj\\u2066 \\u2069\\u200f\\u061c\\u2028");
}

TEST(Legible, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(legible("\x9b"
                    "2J \xff"),
            "\\x9b2J \\xff");
  EXPECT_EQ(legible("cut \xe6\xbc"), "cut \\xe6\\xbc");
  EXPECT_EQ(legible("long \xc0\x9b \xe0\x82\x9b \xf0\x82\x82\x9b"),
            "long \\xc0\\x9b \\xe0\\x82\\x9b \\xf0\\x82\\x82\\x9b");
  EXPECT_EQ(legible("surrogate \xed\xa0\x80, beyond \xf4\x90\x80\x80"),
            "surrogate \\xed\\xa0\\x80, beyond \\xf4\\x90\\x80\\x80");
}

TEST(Legible, KeepsLineEndsThatAreOurs) {
  EXPECT_EQ(legible_lines("a\n\x1b"
                          "b\r\n"),
            "a\n\\u001bb\\r\n");
}

}  // namespace
