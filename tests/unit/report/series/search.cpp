#include "report/series/search.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace halcyon;

TEST(SearchText, SaysOnceThatARunOfTheEasiestLoadFailed) {
  SearchResult result{.name = "N", .request = {.range = {1, 2}, .limit = {.response = Response::rate, .value = 3.0}}};
  result.trials = {{1, std::nullopt}, {2, std::nullopt}};
  result.state = state_of(result.request, result.trials);
  EXPECT_NE(search_text(result).find("No N of the range meets rate < 3: at N = 1, a run failed."), std::string::npos);
}

TEST(RunsWithoutVerdict, AreThoseWhoseMeasuredTimesCount) {
  const VariedRun judged{.undisturbed_seconds = 1.0};
  const VariedRun not_judged{.run_time_seconds = 1.0};
  const VariedRun printed{.run_time_seconds = 1.0, .printed = 5.0};
  const VariedRun failed{.failed_with = 1};
  EXPECT_EQ(without_verdict_words({judged, not_judged, failed}),
            "1 of 3 runs had no verdict: the measured time counts.");
  EXPECT_EQ(without_verdict_words({printed, printed}), "");
}

}  // namespace
