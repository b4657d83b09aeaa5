#include "cli/running/watch_condition.hpp"

#include <gtest/gtest.h>

namespace halcyon::cli {
namespace {

TEST(ParseCondition, ReadsNameLimitAndTime) {
  const Outcome<Condition> condition = parse_condition("interference > 30% for 60s");
  ASSERT_TRUE(condition);
  EXPECT_EQ(condition->watched, Watched::interference);
  EXPECT_TRUE(condition->is_above);
  EXPECT_EQ(condition->limit, 30.0);
  EXPECT_EQ(condition->for_seconds, 60.0);
  EXPECT_EQ(parse_condition("rate<50 %")->limit, 50.0);
  EXPECT_FALSE(parse_condition("rate<50 %")->is_above);
  EXPECT_EQ(parse_condition(" standstill > 2min for 1 h ")->limit, 120.0);
  EXPECT_EQ(parse_condition(" standstill > 2min for 1 h ")->for_seconds, 3600.0);
}

TEST(ParseCondition, NamesThePlaceThatIsWrong) {
  const auto told = [](const std::string& text) {
    const Outcome<Condition> condition = parse_condition(text);
    return condition ? std::string() : condition.failure().message;
  };
  EXPECT_EQ(told("interfrence > 30%"),
            "'interfrence > 30%', column 1: 'interfrence' is none of interference, rate, standstill");
  EXPECT_EQ(told("rate 30"), "'rate 30', column 1: 'rate 30' is none of interference, rate, standstill");
  EXPECT_EQ(told("rate"), "'rate', column 5: expected < or >");
  EXPECT_EQ(told("rate > fast"), "'rate > fast', column 8: 'fast' is no share such as 30%");
  EXPECT_EQ(told("rate > -3%"), "'rate > -3%', column 8: '-3%' is no share such as 30%");
  EXPECT_EQ(told("standstill > 10%"), "'standstill > 10%', column 14: '10%' is no time such as 60s");
  EXPECT_EQ(told("rate > 3% for ever"), "'rate > 3% for ever', column 15: 'ever' is no time such as 60s");
  EXPECT_EQ(told(""), "'', column 1: '' is none of interference, rate, standstill");
}

}  // namespace
}  // namespace halcyon::cli
