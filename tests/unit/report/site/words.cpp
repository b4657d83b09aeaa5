#include "report/site/words.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon;

TEST(WordsOfASite, ADayThatIsKnownIsNoSpan) {
  LossChange change{.day = 20000.5, .day_interval = {20000.1, 20000.9}, .points = 3.0, .interval_points = {2.0, 4.0}};
  EXPECT_EQ(loss_change_words(change),
            "since 2024-10-04 it loses 3.0 points (2.0 to 4.0) more of its run time to others");
  change.day_interval = {19999.5, 20001.5};
  EXPECT_TRUE(loss_change_words(change).starts_with("since 2024-10-04 (2024-10-03 to 2024-10-05) it loses"));
}

TEST(WordsOfASite, ANodeBecameSlowBetweenTwoDays) {
  HostEffect host;
  host.is_listed = true;
  EXPECT_EQ(slow_since_words(host), "before its first run");
  host.since_days = Interval{20000.5, 20002.5};
  EXPECT_EQ(slow_since_words(host), "between 2024-10-04 and 2024-10-06");
  host.since_days = Interval{20000.5, 20000.6};
  EXPECT_EQ(slow_since_words(host), "on 2024-10-04");
}

TEST(WordsOfASite, FewNodeHoursKeepTheirDigits) {
  EXPECT_EQ(hours_words(0.0), "0.00");
  EXPECT_EQ(hours_words(0.00123), "0.0012");
  EXPECT_EQ(hours_words(-0.0456), "-0.046");
  EXPECT_EQ(hours_words(12.34), "12.3");
  EXPECT_EQ(hours_words(12345.6), "12346");
}

TEST(WordsOfASite, ACauseThatIsNotClearHasAName) {
  EXPECT_EQ(shown_name(ledger::By::cause, {}), "no cause is clear");
  EXPECT_EQ(shown_name(ledger::By::project, {}), "(none)");
}

}  // namespace
