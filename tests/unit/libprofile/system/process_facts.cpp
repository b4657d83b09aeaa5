#include "libprofile/system/process_facts.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace halcyon;

// Until the first thread looks like a zombie: then `answer` gets whether the process counts as one that has ended.
void* judge_own_process(void* answer) {
  std::optional<ProcessFacts> facts;
  do {
    facts = facts_of(getpid());
  } while (facts && facts->state != 'Z');
  const char told = !facts ? '?' : facts->has_ended() ? 'e' : 'r';
  if (write(*static_cast<int*>(answer), &told, 1) != 1) _exit(1);
  _exit(0);
}

TEST(ProcessFactsOf, AProcessWhoseFirstThreadHasEndedGoesOn) {
  int answer[2];
  ASSERT_EQ(pipe(answer), 0);
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    pthread_create(&thread, nullptr, judge_own_process, &answer[1]);
    syscall(SYS_exit, 0);  // as pthread_exit, without unwinding through the test
  }
  char told = '\0';
  EXPECT_EQ(read(answer[0], &told, 1), 1);
  EXPECT_EQ(told, 'r');
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  const std::optional<ProcessFacts> facts = facts_of(child);
  EXPECT_TRUE(facts && facts->has_ended());
  waitpid(child, nullptr, 0);
  close(answer[0]);
  close(answer[1]);
}

}  // namespace
