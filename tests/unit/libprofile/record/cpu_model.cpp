#include "libprofile/record/cpu_model.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon;

TEST(CpuModel, OfAarch64IsTheNameOfItsImplementerAndPart) {
  EXPECT_EQ(model_of_midr(0x411fd070), "Arm Cortex-A57");
  EXPECT_EQ(model_of_midr(0x414fd0c1), "Arm Neoverse-N1");
  EXPECT_EQ(model_of_midr(0x410fd4f1), "Arm Neoverse-V2");
  EXPECT_EQ(model_of_midr(0x461f0010), "Fujitsu A64FX");
}

TEST(CpuModel, OfAnUnknownOneIsItsNumbers) {
  EXPECT_EQ(model_of_midr(0xc00fac30), "aarch64, implementer 0xc0, part 0xac3");
  EXPECT_EQ(model_of_midr(0x00000000), "aarch64, implementer 0x00, part 0x000");
  EXPECT_EQ(model_of_midr(0x460fd0c1), "aarch64, implementer 0x46, part 0xd0c") << "a part is a number of its maker";
}

TEST(CpuModel, IsMoreThanTheArchitecture) {
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_NE(cpu_model(), "x86_64");
  EXPECT_NE(cpu_model(), "aarch64");
#endif
  EXPECT_FALSE(cpu_model().empty());
}

}  // namespace
