#include "cli/launch/job.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace halcyon::cli {
namespace {

constexpr double longest_wait_seconds = 1e6;  // at a time: a timespec holds no infinity

// Blocks signals while it lives.
class SignalsBlocked {
 public:
  explicit SignalsBlocked(const sigset_t& signals) { sigprocmask(SIG_BLOCK, &signals, &before_); }
  ~SignalsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

sigset_t all_signals() {
  sigset_t signals;
  sigfillset(&signals);
  return signals;
}

sigset_t end_of_a_child() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  return signals;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The environment of this process, changed as requested: NAME=VALUE.
std::vector<std::string> environment_for(const JobRequest& request) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_replaced = std::any_of(request.environment.begin(), request.environment.end(),
                                         [name](const auto& added) { return added.first == name; });
    if (!is_replaced && !(request.without_preload && name == "LD_PRELOAD")) variables.emplace_back(text);
  }
  for (const auto& [name, value] : request.environment) variables.push_back(name + "=" + value);
  return variables;
}

// What the child does, with all signals blocked: only calls that are allowed between fork and exec.
[[noreturn]] void become(const JobRequest& request, char* const* arguments, char* const* environment,
                         const sigset_t& signal_mask, int why_not) {
  if (request.own_group) setpgid(0, 0);
  if (request.inherited >= 0) fcntl(request.inherited, F_SETFD, 0);
  if (request.output >= 0) {
    dup2(request.output, STDOUT_FILENO);
    dup2(request.output, STDERR_FILENO);
    if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) dup2(nothing, STDIN_FILENO);
  }
  // A signal that comes now is for the program, not for our handlers.
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
      continue;
    }
    action = {};
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &signal_mask, nullptr);
  execvpe(arguments[0], arguments, environment);
  const int error = errno;
  _exit(write(why_not, &error, sizeof error) < 0 ? 126 : 127);
}

JobEnd end_from(int status) {
  if (WIFSIGNALED(status)) return {.status = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  return {.status = WEXITSTATUS(status)};
}

}  // namespace

Outcome<Job> Job::start(const JobRequest& request) {
  const auto cannot_start = [](const std::string& what, int error) {
    return Failure{"cannot start " + what + ": " + std::strerror(error)};
  };
  Words words = request.words;
  const std::vector<char*> arguments = pointers_to(words);
  std::vector<std::string> variables = environment_for(request);
  const std::vector<char*> environment = pointers_to(variables);
  int ends[2];  // of a pipe: exec closes it, or the child writes why exec failed
  if (pipe2(ends, O_CLOEXEC) != 0) return cannot_start("a process", errno);
  std::signal(SIGCHLD, SIG_DFL);  // if it were ignored, the exit status would be lost
  pid_t child = 0;
  {
    const SignalsBlocked blocked(all_signals());
    child = fork();
    if (child == 0) become(request, arguments.data(), environment.data(), blocked.before(), ends[1]);
    if (child > 0 && request.own_group) setpgid(child, child);  // parent or child, whoever is first
  }
  int error = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return cannot_start("a process", error);
  }
  Job job(child, request.own_group);
  ssize_t got = 0;
  while ((got = read(ends[0], &error, sizeof error)) < 0 && errno == EINTR) {
  }
  close(ends[0]);
  if (got != 0) return cannot_start(request.words.front(), error);
  return job;
}

Job::Job(Job&& other) noexcept
    : process_(std::exchange(other.process_, 0)), own_group_(other.own_group_), end_(other.end_) {}

Job::~Job() {
  if (address() == 0) return;
  signal(SIGKILL);
  wait();
}

Outcome<std::optional<JobEnd>> Job::look(int options) {
  if (end_) return end_;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(process_, &status, options)) < 0 && errno == EINTR) {
  }
  if (ended < 0) return Failure{std::string("cannot learn how the program ended: ") + std::strerror(errno)};
  if (ended > 0) end_ = end_from(status);
  return end_;
}

Outcome<JobEnd> Job::wait() {
  const Outcome<std::optional<JobEnd>> end = look(0);
  if (!end) return end.failure();
  return **end;
}

Outcome<std::optional<JobEnd>> Job::wait(double seconds) {
  const auto began = std::chrono::steady_clock::now();
  const sigset_t child_ended = end_of_a_child();
  const SignalsBlocked blocked(child_ended);  // so that no end is missed between looking and waiting
  for (;;) {
    Outcome<std::optional<JobEnd>> end = look(WNOHANG);
    if (!end || *end) return end;
    const double left = seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (left <= 0.0) return end;
    const double part = std::min(left, longest_wait_seconds);
    const timespec most{static_cast<time_t>(part), static_cast<long>(std::fmod(part, 1.0) * 1e9)};
    // The end of another child also ends this wait.
    if (sigtimedwait(&child_ended, nullptr, &most) < 0 && errno == EINTR) return look(WNOHANG);
  }
}

void Job::signal(int number) const {
  if (const pid_t to = address(); to != 0) kill(to, number);
}

pid_t Job::address() const {
  if (end_) return 0;
  return own_group_ ? -process_ : process_;
}

std::string output_of(const Words& command, const Environment& environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  Outcome<Job> job = Job::start({.words = command, .environment = environment, .output = ends[1]});
  close(ends[1]);
  std::string output;
  std::array<char, 512> piece;
  for (ssize_t got = 0; job && (got = read(ends[0], piece.data(), piece.size())) > 0;) {
    output.append(piece.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (job) job->wait();
  return output;
}

}  // namespace halcyon::cli
