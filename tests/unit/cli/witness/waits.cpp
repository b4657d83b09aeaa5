#include "cli/witness/waits.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/witness/processes.hpp"
#include "cli/witness/samples.hpp"

namespace {

using namespace halcyon::cli;

constexpr std::uint64_t second = 1000000000;
constexpr Thread idle{0, 0};
constexpr Thread rank{10, 10};
constexpr Thread helper{10, 11};  // of the same process
constexpr Thread thief{20, 20};
constexpr Thread other{30, 30};

bool is_rank(pid_t process) { return process == rank.process; }

Switch at(std::uint64_t seconds, const Thread& before, const Thread& after, bool is_preempted = false,
          std::uint32_t cpu = 0) {
  return {cpu, seconds * second, before, after, is_preempted};
}

TEST(WaitsForCpus, AreOfWhoRanMeanwhile) {
  WaitsForCpus waits(is_rank);
  waits.add(at(1, rank, thief, true));
  waits.add(at(3, thief, other));
  waits.add(at(4, other, rank));
  waits.add(at(9, rank, idle));
  EXPECT_EQ(waits.take(), (std::map<pid_t, double>{{20, 2.0}, {30, 1.0}}));
}

TEST(WaitsForCpus, AreNoneWhereAThreadSleeps) {
  WaitsForCpus waits(is_rank);
  waits.add(at(1, rank, thief, false));
  waits.add(at(3, thief, rank));
  EXPECT_TRUE(waits.take().empty());
}

TEST(WaitsForCpus, AreNoneOfThoseWhoAreNotWatched) {
  WaitsForCpus waits(is_rank);
  waits.add(at(1, other, thief, true));
  waits.add(at(3, thief, other));
  EXPECT_TRUE(waits.take().empty());
}

TEST(WaitsForCpus, EndOnTheCpuWhereTheThreadRunsAgain) {
  WaitsForCpus waits(is_rank);
  waits.add(at(1, rank, thief, true, 0));
  waits.add(at(3, other, rank, true, 1));
  waits.add(at(5, thief, other, true, 0));
  EXPECT_EQ(waits.take(), (std::map<pid_t, double>{{20, 2.0}}));
}

TEST(WaitsForCpus, OfSeveralThreadsAddUp) {
  WaitsForCpus waits(is_rank);
  waits.add(at(1, rank, helper, true));
  waits.add(at(2, helper, thief, true));
  waits.add(at(4, thief, rank));
  waits.add(at(5, rank, helper));
  EXPECT_EQ(waits.take(), (std::map<pid_t, double>{{10, 2.0}, {20, 4.0}}));
}

TEST(WaitsForCpus, ThatHaveNotEndedCountUntilTheEnd) {
  WaitsForCpus waits(is_rank);
  waits.add(at(1, rank, thief, true));
  waits.end(6 * second);
  EXPECT_EQ(waits.take(), (std::map<pid_t, double>{{20, 5.0}}));
}

Sample sample(pid_t process, int cpu, double used, double waited = 0.0) {
  return {.process = process, .name = "a", .cpu = cpu, .cpu_seconds = used, .waited_seconds = waited};
}

TEST(SampledWaits, AreDividedAmongThoseWhoUsedTheSameCpu) {
  SampledWaits waits;
  waits.add({sample(10, 0, 1.0, 1.0), sample(20, 0, 5.0), sample(30, 0, 5.0), sample(40, 1, 5.0)});
  waits.add({sample(10, 0, 1.5, 5.0), sample(20, 0, 8.0), sample(30, 0, 6.0), sample(40, 1, 9.0)});
  EXPECT_EQ(waits.take(), (std::map<pid_t, double>{{20, 3.0}, {30, 1.0}}));
}

TEST(SampledWaits, AreOfNobodyWhereNobodyWasSeen) {
  SampledWaits waits;
  waits.add({sample(10, 0, 1.0, 1.0)});
  waits.add({sample(10, 0, 1.5, 3.0), sample(20, 0, 8.0)});  // new: what it used before is not known
  EXPECT_EQ(waits.take(), (std::map<pid_t, double>{{0, 2.0}}));
}

TEST(Processes, ThatHaveEndedCanBeForgotten) {
  Processes processes(0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  processes.forget_ended();
  const std::size_t running = processes.size();
  processes.add(Forked{.process = child, .parent = getpid()});
  EXPECT_EQ(processes.size(), running + 1);
  EXPECT_EQ(processes.party_of(child).program, processes.party_of(getpid()).program);  // what its parent had
  processes.forget_ended();
  EXPECT_LE(processes.size(), running);
  EXPECT_FALSE(processes.party_of(getpid()).program.empty());
}

TEST(WaitsForCpus, BeginAnewWhenTheyAreTaken) {
  WaitsForCpus waits(is_rank);
  waits.add(at(1, rank, thief, true));
  waits.add(at(3, thief, rank));
  EXPECT_EQ(waits.take(), (std::map<pid_t, double>{{20, 2.0}}));
  waits.add(at(5, rank, thief, true));
  waits.add(at(6, thief, rank));
  EXPECT_EQ(waits.take(), (std::map<pid_t, double>{{20, 1.0}}));
}

TEST(Processes, HaveTheJobAndTheServiceOfTheirControlGroup) {
  EXPECT_EQ(job_in("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n"), "4711");
  EXPECT_EQ(job_in("4:cpu:/slurm/uid_1000/job_12/step_batch\n"), "12");
  EXPECT_EQ(job_in("1:cpuset:/pbs_jobs/77.server\n"), "77");
  EXPECT_EQ(job_in("0::/user.slice/user-0.slice\n"), "");
  EXPECT_EQ(service_in("0::/system.slice/cron.service\n"), "cron");
  EXPECT_EQ(service_in("0::/init.scope\n"), "");
}

}  // namespace
