#include "intm/spec.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon;

TEST(Spec, ReadsEverythingThatCanBeSaid) {
  const Outcome<InjectionSpec> spec =
      parse_spec("class=p2p,prob=0.25,mean=5ms,sd=1ms,ranks=0-3+7,after=2s,until=9s,every=1s,for=100ms");
  ASSERT_TRUE(spec) << spec.failure().message;
  EXPECT_EQ(spec->classes, inject_p2p);
  EXPECT_EQ(spec->probability, 0.25);
  EXPECT_EQ(spec->mean, 5e6);
  EXPECT_EQ(spec->deviation, 1e6);
  EXPECT_TRUE(spec->concerns(3));
  EXPECT_FALSE(spec->concerns(4));
  EXPECT_TRUE(spec->concerns(7));
  EXPECT_EQ(spec->after, 2'000'000'000u);
  EXPECT_EQ(*spec->until, 9'000'000'000u);
}

TEST(Spec, KnowsAllUnitsOfTime) {
  for (const auto& [text, nanoseconds] : {std::pair{"7ns", 7.0}, {"7us", 7e3}, {"7ms", 7e6}, {"0.7s", 7e8}}) {
    EXPECT_EQ(parse_spec(std::string("class=all,prob=1,mean=") + text)->mean, nanoseconds) << text;
  }
}

TEST(Spec, IsActiveWithinItsWindowAndBursts) {
  const Outcome<InjectionSpec> spec = parse_spec("class=all,prob=1,mean=1ms,after=2s,until=9s,every=1s,for=100ms");
  constexpr std::uint64_t ms = 1'000'000;
  EXPECT_FALSE(spec->active_at(1999 * ms));
  EXPECT_TRUE(spec->active_at(2000 * ms));
  EXPECT_TRUE(spec->active_at(2099 * ms));
  EXPECT_FALSE(spec->active_at(2100 * ms));
  EXPECT_TRUE(spec->active_at(3050 * ms));
  EXPECT_FALSE(spec->active_at(9000 * ms));
}

TEST(Spec, ConcernsAllRanksUnlessToldOtherwise) {
  EXPECT_TRUE(parse_spec("class=all,prob=1,mean=1ms")->concerns(12345));
}

TEST(Spec, ThatIsMalformedIsRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "class= is missing"},
      {"class=all,mean=1ms", "prob= is missing"},
      {"class=net,prob=1,mean=1ms", "class=net"},
      {"class=all,prob=2,mean=1ms", "prob=2"},
      {"class=all,prob=nan,mean=1ms", "prob=nan"},
      {"class=all,prob=-0.1,mean=1ms", "prob=-0.1"},
      {"class=all,prob=1,mean=5", "mean=5"},
      {"class=all,prob=1,mean=-5ms", "mean=-5ms"},
      {"class=all,prob=1,mean=1e300s", "mean=1e300s"},
      {"class=all,prob=1,mean=1ms,mean=2ms", "twice"},
      {"class=all,prob=1,mean=1ms,ranks=3-1", "ranks=3-1"},
      {"class=all,prob=1,mean=1ms,ranks=", "ranks="},
      {"class=all,prob=1,mean=1ms,every=1s", "go together"},
      {"class=all,prob=1,mean=1ms,every=1s,for=2s", "longer than"},
      {"class=all,prob=1,mean=1ms,every=0s,for=0s", "zero"},
      {"class=all,prob=1,mean=1ms,after=2s,until=1s", "until="},
      {"class=all,prob=1,mean=1ms,colour=red", "'colour'"},
      {"class=all prob=1", "is not p2p"},
      {"class", "not KEY=VALUE"},
  };
  for (const auto& [text, reason] : cases) {
    const Outcome<InjectionSpec> spec = parse_spec(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_NE(spec.failure().message.find(reason), std::string::npos) << spec.failure().message;
  }
}

TEST(Specs, AreSeparatedByWhiteSpace) {
  const auto specs = parse_specs("  class=all,prob=1,mean=1ms class=p2p,prob=0.5,mean=2ms\n");
  ASSERT_TRUE(specs);
  ASSERT_EQ(specs->size(), 2u);
  EXPECT_EQ((*specs)[1].mean, 2e6);
  EXPECT_FALSE(parse_specs("class=all,prob=1,mean=1ms nonsense"));
  EXPECT_TRUE(parse_specs("")->empty());
}

}  // namespace
