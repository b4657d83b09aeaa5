#include "libprofile/system/limited_process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

namespace halcyon {
namespace {

constexpr int pipe_bytes = 1 << 20;

// 0 if the system does not tell.
std::uint64_t own_address_space() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return std::uint64_t{pages} * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit(__rlimit_resource_t resource, rlim_t value) {
  rlimit limits{};
  if (getrlimit(resource, &limits) != 0) return;
  limits.rlim_cur = limits.rlim_max = std::min(value, limits.rlim_max);
  setrlimit(resource, &limits);
}

[[noreturn]] void be_the_process(const ProcessLimits& limits, const std::function<void(int to)>& work, int to) {
  // Messages of a dying libc or a sanitizer are not for the user, who gets one line; nor is a core file.
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  for (const int deadly : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGALRM}) std::signal(deadly, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  if (const std::uint64_t own = own_address_space(); own > 0) limit(RLIMIT_AS, own + limits.memory_bytes);
  alarm(limits.seconds);
  try {
    work(to);
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

}  // namespace

int in_limited_process(const ProcessLimits& limits, const std::function<void(int to)>& work,
                       const std::function<void(int from)>& receive) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes);  // if that is not allowed, it takes a little longer
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    be_the_process(limits, work, ends[1]);
  }
  const int error = child < 0 ? errno : 0;
  close(ends[1]);
  if (child > 0) receive(ends[0]);
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return error;
}

}  // namespace halcyon
