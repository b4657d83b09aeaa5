#include "cli/recorded_launch.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "cli/commands.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

// Where rank 0 will say which profile it wrote: the name holds what only the ranks know. Beside the profile, since that
// is where both sides can write.
std::string receipt_beside(const std::string& output) {
  return (fs::path(output).parent_path() / (".halcyon-run-" + std::to_string(getpid()) + ".receipt")).string();
}

std::optional<std::string> take_receipt(const std::string& receipt) {
  std::ifstream in(receipt);
  std::string path;
  const bool told = static_cast<bool>(std::getline(in, path));
  std::error_code error;
  fs::remove(receipt, error);
  return told ? std::optional(path) : std::nullopt;
}

volatile std::sig_atomic_t running_child = 0;
volatile std::sig_atomic_t asked_to_end = 0;
volatile std::sig_atomic_t interrupts_first = 0;  // where the launch command kills its ranks at other signals

// Signals that ask this process to end are passed on to the launch command while it runs. A terminal sends its own to
// the whole group.
void pass_on(int signal, siginfo_t* from, void*) {
  if (running_child == 0) {
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  if (signal != SIGUSR1 && signal != SIGUSR2) asked_to_end = signal;
  if (from->si_code == SI_KERNEL) return;
  const bool interrupts = interrupts_first != 0 && (signal == SIGTERM || signal == SIGHUP);
  if (interrupts) interrupts_first = 0;  // whoever asks again wants an end by all means
  kill(static_cast<pid_t>(running_child), interrupts ? SIGINT : signal);
}

class SignalsPassedOn {
 public:
  SignalsPassedOn() {
    asked_to_end = 0;
    struct sigaction forward {};
    forward.sa_sigaction = pass_on;
    forward.sa_flags = SA_SIGINFO;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], &forward, &before_[i]);
      // Under nohup, and in the background of a script, some are not for us.
      if (before_[i].sa_handler == SIG_IGN) sigaction(signals[i], &before_[i], nullptr);
    }
  }
  ~SignalsPassedOn() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  }
  SignalsPassedOn(const SignalsPassedOn&) = delete;
  SignalsPassedOn& operator=(const SignalsPassedOn&) = delete;

 private:
  static constexpr std::array signals{SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, signals.size()> before_{};
};

class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  void release() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// The child's output goes into `log`, if that is not negative.
[[noreturn]] void become(const LaunchCommand& command, int log) {
  if (command.without_preload) unsetenv("LD_PRELOAD");
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) dup2(nothing, STDIN_FILENO);
  }
  fail(execute(command.words).message);
  _exit(127);
}

Outcome<LaunchEnd> run_to_end(const LaunchCommand& command, int log) {
  std::signal(SIGCHLD, SIG_DFL);  // inherited as ignored, it would take the status away
  interrupts_first = command.kills_on_term ? 1 : 0;
  const SignalsPassedOn passed_on;
  // None may come between the start of the child and our knowing it.
  const SignalsHeld held;
  const pid_t child = fork();
  if (child < 0) return Failure{std::string("cannot start a process: ") + std::strerror(errno)};
  if (child == 0) {
    held.release();
    become(command, log);
  }
  running_child = child;
  held.release();
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  running_child = 0;
  if (ended < 0) return Failure{std::string("cannot learn how the program ended: ") + std::strerror(errno)};
  return LaunchEnd{.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                   .signal = asked_to_end};
}

Outcome<LaunchCommand> prepared(const LaunchRequest& request, const Environment& of_this_run) {
  const Outcome<std::string> preload = preload_list(request.options, request.launcher.family);
  if (!preload) return preload.failure();
  Environment environment = rank_environment(request.options);
  environment.emplace_back("HALCYON_COMMAND", quoted(request.command));
  environment.emplace_back("HALCYON_ALL_RANKS", "1");
  if (!request.options.inject.empty()) environment.emplace_back("INTM_SEED", request.injection_seed);
  environment.insert(environment.end(), of_this_run.begin(), of_this_run.end());
  LaunchCommand command = with_recorder(request.launcher, request.command, *preload, environment);
  command.words.insert(command.words.begin(), request.prefix.begin(), request.prefix.end());
  return command;
}

}  // namespace

Outcome<std::string> command_line(const LaunchRequest& request) {
  const Outcome<LaunchCommand> command = prepared(request, {});
  if (!command) return command.failure();
  return quoted(spelt_out(*command));
}

Outcome<LaunchEnd> run_to_end(const std::vector<std::string>& command) {
  return run_to_end(LaunchCommand{.words = command}, -1);
}

Outcome<LaunchEnd> launch_recorded(const LaunchRequest& request) {
  const std::string receipt = receipt_beside(request.options.output);
  const Outcome<LaunchCommand> command =
      prepared(request, {{"HALCYON_RECEIPT", receipt},
                         {"HALCYON_RUN", std::to_string(std::random_device{}()) + "." + std::to_string(getpid())}});
  if (!command) return command.failure();
  int log = -1;
  if (!request.log.empty()) {
    log = open(request.log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (log < 0) return Failure{"cannot write " + request.log + ": " + std::strerror(errno)};
  }
  if (unlink(receipt.c_str()) != 0 && errno != ENOENT) {  // of a process of our number, killed long ago
    return Failure{"cannot remove " + receipt + ": " + std::strerror(errno)};
  }
  Outcome<LaunchEnd> end = run_to_end(*command, log);
  if (log >= 0) close(log);
  if (end) end->profile = take_receipt(receipt);
  return end;
}

}  // namespace halcyon::cli
