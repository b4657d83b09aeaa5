#include "cli/running/cores_of_ranks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

// What a kernel would say of rank 7 with the threads 7 and 8, and of four CPUs.
class CoresOfARank : public ::testing::Test {
 protected:
  CoresOfARank() : proc_(fs::path(::testing::TempDir()) / fmt::format("proc-{}", getpid())) {
    for (const int thread : {7, 8}) {
      fs::create_directories(task(thread));
      thread_says(thread, 0.0, 0.0);
    }
    bound_to("0-1");
    cpus_say(0.0, 0.0);
  }
  ~CoresOfARank() override { fs::remove_all(proc_); }

  fs::path task(int thread) const { return proc_ / "7" / "task" / std::to_string(thread); }
  void bound_to(const std::string& list) const {
    for (const int thread : {7, 8})
      std::ofstream(task(thread) / "status") << "Name:\tapp\nCpus_allowed_list:\t" << list;
  }
  void thread_says(int thread, double ran, double waited) const {
    std::ofstream(task(thread) / "schedstat") << fmt::format("{:.0f} {:.0f} 12\n", 1e9 * ran, 1e9 * waited);
  }
  // CPU time, in s, of each of the CPUs 0 and 1, and of CPU 3; the nice time of all is large.
  void cpus_say(double of_first, double of_last) const {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    std::ofstream file(proc_ / "stat");
    file << "cpu  1 2 3 4 5 6 7 0 0 0\n";
    for (const int cpu : {0, 1, 2, 3}) {
      const double used = cpu < 2 ? of_first : cpu == 3 ? of_last : 0.0;
      file << fmt::format("cpu{} {:.0f} 99999{:.0f} {:.0f} 77 0 0 0 5 0 0\n", cpu, 0.75 * used * ticks, used,
                          0.25 * used * ticks);
    }
    file << "intr 1 2 3\n";
  }
  CoresOfRanks cores() const { return CoresOfRanks({7}, 100.0, proc_); }

  fs::path proc_;
};

TEST_F(CoresOfARank, ThatOthersHadMadeItsLongestThreadWait) {
  CoresOfRanks cores = this->cores();
  thread_says(7, 0.5, 0.4);
  thread_says(8, 0.25, 0.1);
  cpus_say(1.0, 0.0);
  EXPECT_NEAR(cores.waited_share(101.0), 0.4, 1e-9);
  thread_says(7, 1.5, 0.4);
  EXPECT_NEAR(cores.waited_share(102.0), 0.0, 1e-9);
}

TEST_F(CoresOfARank, ThatNobodyUsedALimitMadeItWaitFor) {
  CoresOfRanks cores = this->cores();
  thread_says(7, 0.5, 0.5);
  cpus_say(0.25, 0.0);  // each of two: what the thread ran
  EXPECT_NEAR(cores.waited_share(101.0), 0.0, 1e-9);
}

TEST_F(CoresOfARank, ThatItHadItselfNobodyTookFromIt) {
  bound_to("2");
  CoresOfRanks cores = this->cores();
  thread_says(7, 0.5, 0.5);
  thread_says(8, 0.5, 0.5);
  EXPECT_NEAR(cores.waited_share(101.0), 0.0, 1e-9);
}

TEST_F(CoresOfARank, AreWantedWhileOthersUseMoreThanItWouldLeave) {
  CoresOfRanks cores = this->cores();
  thread_says(7, 0.5, 0.5);  // it wants a core and a half of two
  thread_says(8, 0.5, 0.0);
  cores.waited_share(101.0);
  cores.stand_still(101.0);
  EXPECT_TRUE(cores.are_wanted(101.1, 0.1, 0.5));  // too early to tell
  cpus_say(0.34, 0.0);                             // each of two: 0.68 s in a second, more than 0.5 and a tenth of 1.5
  EXPECT_TRUE(cores.are_wanted(102.0, 0.1, 0.5));
  cpus_say(0.34 + 0.32, 0.0);
  EXPECT_FALSE(cores.are_wanted(103.0, 0.1, 0.5));
}

TEST_F(CoresOfARank, AreNotWantedByWhoUsesOtherCores) {
  CoresOfRanks cores = this->cores();
  thread_says(7, 1.0, 0.0);
  thread_says(8, 1.0, 0.0);
  cores.waited_share(101.0);
  cores.stand_still(101.0);
  cpus_say(0.0, 5.0);
  EXPECT_FALSE(cores.are_wanted(106.0, 0.1, 0.5));
}

TEST_F(CoresOfARank, AreNotWantedAndNotWaitedForIfTheKernelSaysNothing) {
  CoresOfRanks cores({999}, 100.0, proc_);
  EXPECT_EQ(cores.waited_share(101.0), 0.0);
  cores.stand_still(101.0);
  EXPECT_FALSE(cores.are_wanted(102.0, 0.1, 0.5));
}

}  // namespace
}  // namespace halcyon::cli
