#include "cli/series/varied_runs.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon::cli;

TEST(VariedCommand, GetsItsValuesAndKeepsWhatIsAShells) {
  const Words launch{"-n{N}", "{N}{M}", "N=1; echo ${N} {N}${M}"};
  const std::vector<std::string> names{"N", "M"};
  EXPECT_FALSE(objection_to_command(launch, names, "--vary"));
  EXPECT_EQ(with_values(launch, names, {16, 2.5}), (Words{"-n16", "162.5", "N=1; echo ${N} 16${M}"}));
}

TEST(VariedCommand, NeedsANameThatIsNotAShells) { EXPECT_TRUE(objection_to_command({"echo ${N}"}, {"N"}, "--vary")); }

}  // namespace
