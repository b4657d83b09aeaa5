#include "cli/hog.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace halcyon::cli {
namespace {

// 30 % of one core, in bursts as long as a time slice and more.
constexpr std::chrono::milliseconds burst{150};
constexpr long pause_nanoseconds = 350'000'000;

// On one core for good, so that it is one rank's neighbour and does not wander to an idle core.
void stay_on_first_core() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

[[noreturn]] void burn(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it ended before the line above
  stay_on_first_core();
  for (;;) {
    const auto end = std::chrono::steady_clock::now() + burst;
    while (std::chrono::steady_clock::now() < end) {
    }
    const timespec pause{0, pause_nanoseconds};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

CpuHog::CpuHog() {
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ == 0) burn(parent);
}

CpuHog::~CpuHog() {
  if (child_ <= 0) return;
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace halcyon::cli
