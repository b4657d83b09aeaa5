#include "cli/disturbers/bound_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string>

namespace halcyon::cli {
namespace {

constexpr char ready = '\1';  // distinguishable, since a failure's message has no control characters

[[noreturn]] void be_bound(pid_t parent, int tell, const std::function<Status()>& prepare,
                           const std::function<void()>& go_on) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // the parent ended before prctl
  setpgid(0, 0);
  std::string answer(1, ready);
  try {
    if (const Status prepared = prepare(); !prepared) answer = prepared.failure().message;
  } catch (const std::exception& error) {  // mostly lack of memory
    answer = error.what();
  }
  if (write(tell, answer.data(), answer.size()) < 0) _exit(1);
  close(tell);
  if (answer.front() != ready) _exit(1);
  go_on();
  _exit(0);
}

}  // namespace

Outcome<pid_t> start_bound(const std::function<Status()>& prepare, const std::function<void()>& go_on) {
  const auto cannot_start = [] { return Failure{std::string("cannot start a process: ") + std::strerror(errno)}; };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return cannot_start();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    be_bound(parent, ends[1], prepare, go_on);
  }
  close(ends[1]);
  std::string answer;
  std::array<char, 512> piece;
  ssize_t got = 0;
  while (child > 0 && ((got = read(ends[0], piece.data(), piece.size())) > 0 || (got < 0 && errno == EINTR))) {
    if (got > 0) answer.append(piece.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (child < 0) return cannot_start();
  if (!answer.empty() && answer.front() == ready) return child;
  end_bound(child);
  return Failure{answer.empty() ? "a process ended before it was ready" : answer};
}

void end_bound(pid_t child) {
  if (child <= 0) return;
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace halcyon::cli
