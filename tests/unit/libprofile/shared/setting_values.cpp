#include <gtest/gtest.h>

#include "libprofile/shared/setting_values.hpp"

namespace {

using halcyon::BoundaryChoice;
using halcyon::parse_background;
using halcyon::parse_boundary;
using halcyon::parse_switch;

TEST(BackgroundSetting, IsADecimalNumberOfSeconds) {
  double seconds = -1.0;
  EXPECT_TRUE(parse_background("0", seconds));
  EXPECT_EQ(seconds, 0.0);
  EXPECT_TRUE(parse_background("12.25", seconds));
  EXPECT_NEAR(seconds, 12.25, 1e-12);
  EXPECT_TRUE(parse_background(".5", seconds));
  EXPECT_NEAR(seconds, 0.5, 1e-12);
}

TEST(BackgroundSetting, ThatIsNoneLeavesTheValueAlone) {
  double seconds = 3.0;
  for (const char* text : {"", ".", "-1", "1e3", "1.2.3", "61", "one", "1s"}) {
    EXPECT_FALSE(parse_background(text, seconds)) << text;
  }
  EXPECT_EQ(seconds, 3.0);
}

TEST(ProbesSetting, IsOnOrOff) {
  bool probes = true;
  EXPECT_TRUE(parse_switch("off", probes));
  EXPECT_FALSE(probes);
  EXPECT_TRUE(parse_switch("on", probes));
  EXPECT_TRUE(probes);
  for (const char* text : {"", "0", "no", "On"}) EXPECT_FALSE(parse_switch(text, probes)) << text;
  EXPECT_TRUE(probes);
}

TEST(BoundarySetting, IsOneOfFourNames) {
  for (const std::string_view name : halcyon::boundary_choice_names) {
    BoundaryChoice choice{};
    EXPECT_TRUE(parse_boundary(name, choice)) << name;
    EXPECT_EQ(halcyon::name_of(choice), name);
  }
}

TEST(BoundarySetting, ThatIsNoneLeavesTheValueAlone) {
  BoundaryChoice choice = BoundaryChoice::rooted;
  for (const char* text : {"", "Auto", "all", "all_to_all", "rooted "})
    EXPECT_FALSE(parse_boundary(text, choice)) << text;
  EXPECT_EQ(choice, BoundaryChoice::rooted);
}

}  // namespace
