// `halcyon help CODE` knows what commands print.
#include "cli/codes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/explanation.hpp"

namespace {

using namespace halcyon::cli;

TEST(Codes, OfAllCommandsAreExplained) {
  const std::vector<std::string> codes = printed_codes();
  for (const char* known : {"wide-interval", "other-processes", "other-ranks", "few-runs", "none-meets", "4"}) {
    EXPECT_NE(std::ranges::find(codes, known), codes.end()) << known;
  }
  for (const std::string& code : codes) {
    const std::optional<std::string> explanation = explanation_of(code);
    EXPECT_TRUE(explanation && explanation->size() > code.size() + 10) << code;
  }
}

TEST(Codes, ThatAreExplainedArePrinted) {
  const std::vector<std::string> codes = printed_codes();
  for (const std::string& code : explained_codes()) {
    EXPECT_NE(std::ranges::find(codes, code), codes.end()) << code;
  }
}

TEST(Codes, WithSeveralMeaningsHaveThemAll) {
  const std::string unclear = explanation_of("unclear").value_or("");
  EXPECT_NE(unclear.find("No cause explains half"), std::string::npos) << unclear;
  EXPECT_NE(unclear.find("which program is faster"), std::string::npos) << unclear;
}

}  // namespace
