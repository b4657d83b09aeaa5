#include "libprofile/record/control_groups.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/temporary_directory.hpp"

namespace halcyon {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  testing::TemporaryDirectory temporary_;
  fs::path root_ = temporary_.path();
};

TEST_F(ControlGroups, OfVersion2AreFoundUpToTheRoot) {
  write("pods/one/cpu.max", "max 100000\n");
  write("pods/cpu.max", "150000 100000\n");
  const std::vector<ControlGroup> groups = control_groups("0::/pods/one\n", root_);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].quota, root_ / "pods/one/cpu.max");
  EXPECT_EQ(groups[1].counters, root_ / "pods/cpu.stat");
  EXPECT_EQ(groups[1].seconds_of_unit, 1e-6);
}

TEST_F(ControlGroups, OfVersion1AreThoseOfItsControllerForCpus) {
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  write("cpuset/job/cpu.cfs_quota_us", "50000\n");
  const std::vector<ControlGroup> groups =
      control_groups("9:name=systemd:/\n3:cpuset:/job\n2:cpu,cpuacct:/job\n0::/\n", root_);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].period, root_ / "cpu,cpuacct/job/cpu.cfs_period_us");
  EXPECT_STREQ(groups[0].key, "throttled_time ");
}

TEST_F(ControlGroups, OfAContainerAreAtItsRootWhereThePathIsThatOnItsHost) {
  write("cpu.max", "200000 100000\n");
  const std::vector<ControlGroup> groups = control_groups("0::/docker/0123456789abcdef\n", root_);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].quota, root_ / "cpu.max");
}

TEST_F(ControlGroups, WithoutSuchFilesAreNone) {
  for (const char* groups : {"", "0::/", "0::/\n", "garbage", "1:cpu", ":::::\n", "1:cpu:\n"}) {
    EXPECT_TRUE(control_groups(groups, root_).empty()) << groups;
  }
}

}  // namespace
}  // namespace halcyon
