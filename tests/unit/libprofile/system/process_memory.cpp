#include "libprofile/system/process_memory.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using namespace halcyon;

TEST(ProcessMemory, IsReadableWhereItIsMapped) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_TRUE(is_readable(static_cast<std::uintptr_t*>(memory)));
  mprotect(memory, page, PROT_NONE);
  EXPECT_FALSE(is_readable(static_cast<std::uintptr_t*>(memory)));
  munmap(memory, page);
  EXPECT_FALSE(is_readable(static_cast<std::uintptr_t*>(memory)));
}

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

TEST(ProcessMemory, TellsWhatIsOfOneFile) {
  static const int here = 0;
  int on_stack = 0;
  const std::uintptr_t of_code = number_of(reinterpret_cast<void*>(&number_of));
  const std::uintptr_t of_libc = number_of(reinterpret_cast<void*>(&std::abort));
  EXPECT_TRUE(are_of_one_file(of_code, number_of(&here)));
  EXPECT_FALSE(are_of_one_file(of_code, of_libc));
  EXPECT_FALSE(are_of_one_file(of_code, number_of(&on_stack)));
  EXPECT_FALSE(are_of_one_file(number_of(&on_stack), number_of(&on_stack)));  // of no file
}

TEST(ProcessMemory, MayBeReadOfOneselfAndNotOfAProcessThatIsNotThere) {
  EXPECT_TRUE(may_read_memory_of(getpid()) || errno == ENOSYS || errno == EPERM);
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  siginfo_t how{};
  waitid(P_PID, static_cast<id_t>(ended), &how, WEXITED | WNOWAIT);
  EXPECT_TRUE(is_there(ended));  // a zombie, until it is waited for
  EXPECT_FALSE(may_read_memory_of(ended));
  waitpid(ended, nullptr, 0);
  EXPECT_FALSE(is_there(ended));
}

TEST(ProcessMemory, FiltersOfSystemCallsAreCounted) {
  const pid_t child = fork();
  if (child == 0) {
    const int before = system_call_filters();
    sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{1, allow};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(2);
    _exit(system_call_filters() > before ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "the kernel takes no filters";
  EXPECT_EQ(status, 0);
}

TEST(StackOfThread, HasNoRoomOnAnotherOne) {
  const StackOfThread own = StackOfThread::of_this_thread();
  EXPECT_GT(own.room(), std::size_t{16} << 10);
  std::size_t in_fiber = 1;
  std::size_t in_thread = 0;
  std::vector<char> memory(std::size_t{256} << 10);
  static thread_local const StackOfThread* asked;
  static thread_local std::size_t* answer;
  asked = &own;
  answer = &in_fiber;
  ucontext_t back{};
  ucontext_t fiber{};
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = memory.data();
  fiber.uc_stack.ss_size = memory.size();
  fiber.uc_link = &back;
  makecontext(
      &fiber, +[] { *answer = asked->room(); }, 0);
  swapcontext(&back, &fiber);
  EXPECT_EQ(in_fiber, 0u);
  std::thread([&] { in_thread = StackOfThread::of_this_thread().room(); }).join();
  EXPECT_GT(in_thread, std::size_t{16} << 10);
}

}  // namespace
