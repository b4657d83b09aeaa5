// Segments that no others are like: what the kernel counted decides.
#include "analyzer/evidence/account.hpp"

#include <gtest/gtest.h>

#include "analyzer/judge/analysis.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

// One segment of 10 s, in which ranks computed for `computed` s and waited for a CPU for `waited` s.
Profile run_that_never_synchronises(double computed, double waited) {
  Profile profile = uniform_profile(1, 10.0);
  column(profile, Feature::compute) = {{1e9 * computed}, {}};
  profile.lost_to_cpu_wait = {static_cast<float>(waited)};
  return profile;
}

TEST(Account, KnowsWhatWasNeededAndWhatWasLost) {
  const Account account = account_of(run_that_never_synchronises(6.0, 3.0), Families());
  EXPECT_NEAR(account.needed_seconds, 6.0, 1e-6);
  EXPECT_NEAR(account.lost_seconds, 3.0, 1e-6);
  EXPECT_NEAR(account.most_lost_seconds, 4.0, 1e-6);
  EXPECT_NEAR(account.explained_seconds(), 9.0, 1e-6);
}

TEST(Account, NeverLosesMoreThanWasNotComputed) {
  const Account account = account_of(run_that_never_synchronises(9.0, 3.0), Families());
  EXPECT_NEAR(account.lost_seconds, 1.0, 1e-6);
}

TEST(Account, OfAHardwareCounterIsTheTimeOnACpuOutsideCalls) {
  Profile profile = run_that_never_synchronises(0.0, 0.0);
  profile.counter = "PAPI_TOT_INS";
  profile.last_rank_off_cpu = {1.0F};
  profile.last_rank_times[static_cast<std::size_t>(TimeKind::collective)] = {2.0F};
  EXPECT_NEAR(account_of(profile, Families()).needed_seconds, 7.0, 1e-6);
}

TEST(Account, GivesAVerdictWithoutAnyBoundary) {
  const Analysis computing = analyze(run_that_never_synchronises(9.9, 0.0), "compound");
  EXPECT_EQ(computing.result().verdict, Verdict::green);
  EXPECT_NEAR(computing.coverage_percent, 99.0, 1e-3);
  const Analysis waiting = analyze(run_that_never_synchronises(5.0, 4.9), "compound");
  EXPECT_EQ(waiting.result().verdict, Verdict::red);
  EXPECT_NEAR(waiting.result().interference_percent, 49.0, 0.1);
  EXPECT_NEAR(waiting.result().interval_percent.low, 49.0, 0.1);
  EXPECT_GE(waiting.result().interval_percent.high, 50.0);
  EXPECT_NEAR(static_cast<double>(waiting.excess[0]), 4.9, 1e-5);
}

TEST(Account, GivesNoneToAProgramThatSleeps) {
  const Analysis analysis = analyze(run_that_never_synchronises(1.0, 0.0), "compound");
  EXPECT_EQ(analysis.result().verdict, Verdict::unknown);
  EXPECT_EQ(analysis.no_verdict->reason.code, "no-boundaries");
}

TEST(Account, IsNotThatOfOtherMethods) {
  const Analysis analysis = analyze(run_that_never_synchronises(9.9, 0.0), "paper");
  EXPECT_EQ(analysis.no_verdict->reason.code, "no-boundaries");
  EXPECT_EQ(analysis.coverage_percent, 0.0);
}

}  // namespace
