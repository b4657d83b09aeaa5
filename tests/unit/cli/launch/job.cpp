#include "cli/launch/job.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "cli/launch/signal_relay.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::cli;

constexpr double forever = 1e9;

Words shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

// Only the program to which an end is given has it open beside us.
struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read = ends[0];
    written = ends[1];
  }
  ~Pipe() {
    close_written();
    close(read);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_written() {
    if (written >= 0) close(written);
    written = -1;
  }
  // What is written next, or nothing if nobody can write any more.
  std::string piece() const {
    char text[64];
    const ssize_t size = ::read(read, text, sizeof text);
    return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

  int read = -1;
  int written = -1;
};

// A program that waits until it is released.
class Waiting {
 public:
  Words then(const std::string& script) const {
    return shell("read line < /proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(pipe_.read) + "; " + script);
  }
  void release() { pipe_.close_written(); }

 private:
  Pipe pipe_;
};

TEST(Job, GivesBackTheExitStatus) {
  Outcome<Job> job = Job::start({.words = shell("exit 7")});
  ASSERT_TRUE(job);
  const Outcome<JobEnd> end = job->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->status, 7);
  EXPECT_EQ(end->signal, 0);
}

TEST(Job, ThatASignalEndedHasTheStatusThatShellsGiveIt) {
  Outcome<Job> job = Job::start({.words = shell("kill -TERM $$")});
  ASSERT_TRUE(job);
  const Outcome<JobEnd> end = job->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->status, 128 + SIGTERM);
  EXPECT_EQ(end->signal, SIGTERM);
}

TEST(Job, OfACommandThatDoesNotExistSaysSo) {
  const Outcome<Job> job = Job::start({.words = {"./nothing"}});
  ASSERT_FALSE(job);
  EXPECT_EQ(job.failure().message, "cannot start ./nothing: No such file or directory");
}

TEST(Job, RunsUntilItEndsAndIsKnownToRun) {
  Waiting waiting;
  Outcome<Job> job = Job::start({.words = waiting.then("exit 3")});
  ASSERT_TRUE(job);
  const Outcome<std::optional<JobEnd>> running = job->wait(0.0);
  ASSERT_TRUE(running);
  EXPECT_FALSE(*running);
  waiting.release();
  const Outcome<std::optional<JobEnd>> ended = job->wait(forever);
  ASSERT_TRUE(ended && *ended);
  EXPECT_EQ((*ended)->status, 3);
  EXPECT_EQ(job->wait()->status, 3) << "the end is kept";
}

TEST(Job, TwoAtATimeEndEachForItself) {
  Waiting first_waits;
  Waiting second_waits;
  Outcome<Job> first = Job::start({.words = first_waits.then("exit 1")});
  Outcome<Job> second = Job::start({.words = second_waits.then("exit 2")});
  ASSERT_TRUE(first && second);
  second_waits.release();
  EXPECT_EQ((**second->wait(forever)).status, 2);
  EXPECT_FALSE(*first->wait(0.0));
  first_waits.release();
  EXPECT_EQ((**first->wait(forever)).status, 1);
}

TEST(Job, GetsSignalsWhileItRuns) {
  Waiting waiting;
  Outcome<Job> job = Job::start({.words = waiting.then("exit 0")});
  ASSERT_TRUE(job);
  job->signal(SIGTERM);
  EXPECT_EQ(job->wait()->signal, SIGTERM);
  EXPECT_EQ(job->address(), 0) << "nothing may reach another process of its number";
}

TEST(Job, OfItsOwnGroupGetsSignalsWithItsChildren) {
  Pipe output;
  Outcome<Job> job = Job::start(
      {.words = shell("sh -c 'echo ready; exec sleep 1000' & wait"), .output = output.written, .own_group = true});
  ASSERT_TRUE(job);
  EXPECT_LT(job->address(), 0);
  output.close_written();
  EXPECT_EQ(output.piece(), "ready\n");
  job->signal(SIGTERM);
  EXPECT_EQ(job->wait()->signal, SIGTERM);
  EXPECT_EQ(output.piece(), "") << "its child held it open, and ended, too";
}

TEST(Job, HasTheEnvironmentThatItIsGivenAndNoOtherPreload) {
  setenv("LD_PRELOAD", "", 1);
  setenv("REPLACED", "ours", 1);
  Pipe output;
  Outcome<Job> job = Job::start({.words = shell("echo $REPLACED $ADDED ${LD_PRELOAD-none}"),
                                 .environment = {{"REPLACED", "theirs"}, {"ADDED", "a b"}},
                                 .without_preload = true,
                                 .output = output.written});
  ASSERT_TRUE(job);
  EXPECT_EQ(output.piece(), "theirs a b none\n");
  EXPECT_EQ(job->wait()->status, 0);
  unsetenv("LD_PRELOAD");
  unsetenv("REPLACED");
}

TEST(Job, ThatNobodyWaitsForIsKilled) {
  pid_t process = 0;
  {
    Waiting waiting;
    Outcome<Job> job = Job::start({.words = waiting.then(":")});
    ASSERT_TRUE(job);
    process = job->address();
  }
  EXPECT_EQ(kill(process, 0), -1);
}

TEST(Output, IsWhatAProgramPrintsOnBoth) {
  EXPECT_EQ(output_of(shell("echo one; echo two >&2")), "one\ntwo\n");
  EXPECT_EQ(output_of({"./nothing"}), "");
}

TEST(SignalRelay, PassesASignalToTheJobAndNotesThatItAskedForAnEnd) {
  SignalRelay relay;
  Outcome<Job> job = Job::start({.words = shell("kill -TERM $PPID; read line < /dev/zero")});
  ASSERT_TRUE(job);
  const Outcome<JobEnd> end = relay.wait(*job);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGTERM);
  EXPECT_EQ(relay.asked_to_end(), SIGTERM);
}

TEST(SignalRelay, InterruptsFirstWhatKillsItsRanksAtOtherSignals) {
  SignalRelay relay;
  Outcome<Job> job = Job::start({.words = shell("kill -TERM $PPID; read line < /dev/zero")});
  ASSERT_TRUE(job);
  EXPECT_EQ(relay.wait(*job, true)->signal, SIGINT);
  EXPECT_EQ(relay.asked_to_end(), SIGTERM);
}

TEST(SignalRelay, GivesTheProgramWhatCameWhileItWasStarted) {
  SignalRelay relay;
  Waiting waiting;
  Outcome<Job> job = Job::start({.words = waiting.then(":")});
  ASSERT_TRUE(job);
  raise(SIGUSR1);
  EXPECT_EQ(relay.wait(*job)->signal, SIGUSR1);
  EXPECT_EQ(relay.asked_to_end(), 0) << "SIGUSR1 is for the program";
}

TEST(SignalRelay, TheSecondSignalEndsThisProcessWhereNothingRuns) {
  EXPECT_EXIT(
      {
        SignalRelay relay;
        raise(SIGINT);
        raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
