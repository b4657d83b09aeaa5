#include "libprofile/record/control_groups.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace halcyon {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public testing::Test {
 protected:
  ControlGroups() : root_(fs::path(testing::TempDir()) / "halcyon-control-groups") { fs::remove_all(root_); }
  ~ControlGroups() override { fs::remove_all(root_); }
  ControlGroups(const ControlGroups&) = delete;
  ControlGroups& operator=(const ControlGroups&) = delete;

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  fs::path root_;
};

TEST_F(ControlGroups, OfVersion2AreFoundUpToTheRoot) {
  write("pods/one/cpu.max", "max 100000\n");
  write("pods/cpu.max", "150000 100000\n");
  const std::vector<LimitedGroup> limited = limited_groups("0::/pods/one\n", root_);
  ASSERT_EQ(limited.size(), 1U);
  EXPECT_EQ(limited[0].cpus, 1.5);
  EXPECT_EQ(limited[0].counters, root_ / "pods/cpu.stat");
  EXPECT_EQ(limited[0].seconds_of_unit, 1e-6);
}

TEST_F(ControlGroups, OfVersion1AreThoseOfItsControllerForCpus) {
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("cpuset/job/cpu.cfs_quota_us", "50000\n");
  const std::vector<LimitedGroup> limited =
      limited_groups("9:name=systemd:/\n3:cpuset:/job\n2:cpu,cpuacct:/job\n0::/\n", root_);
  ASSERT_EQ(limited.size(), 1U);
  EXPECT_EQ(limited[0].cpus, 0.5);
  EXPECT_EQ(limited[0].key, "throttled_time ");
}

TEST_F(ControlGroups, OfAContainerAreAtItsRootWhereThePathIsThatOnItsHost) {
  write("cpu.max", "200000 100000\n");
  const std::vector<LimitedGroup> limited = limited_groups("0::/docker/0123456789abcdef\n", root_);
  ASSERT_EQ(limited.size(), 1U);
  EXPECT_EQ(limited[0].cpus, 2.0);
}

TEST_F(ControlGroups, WithoutALimitAreNone) {
  for (const char* groups : {"", "0::/", "0::/\n", "garbage", "1:cpu", ":::::\n", "1:cpu:\n"}) {
    EXPECT_TRUE(limited_groups(groups, root_).empty()) << groups;
  }
}

}  // namespace
}  // namespace halcyon
