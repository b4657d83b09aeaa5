#include "cli/console/progress.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace halcyon::cli;

// What it says where standard error is no terminal.
std::string said_at(const Progress& progress, std::size_t step) {
  ::testing::internal::CaptureStderr();
  progress.begin(step, "quiet");
  return ::testing::internal::GetCapturedStderr();
}

TEST(Progress, OfKnownLengthSaysHowManyRunsThereAreAndHowLongTheyTake) {
  const Progress progress({10.0, 20.0, 60.0});
  EXPECT_EQ(said_at(progress, 0), "halcyon: run 1 of 3 (quiet), about 1 min 30 s left\n");
}

TEST(Progress, OfUnknownLengthSaysHowManyRunsThereWere) {
  const Progress progress;
  EXPECT_EQ(said_at(progress, 6), "halcyon: run 7 (quiet), after 0 s\n");
  ::testing::internal::CaptureStderr();
  progress.begin("pair 2 of 4", "a-002");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "halcyon: pair 2 of 4 (a-002), after 0 s\n");
}

}  // namespace
