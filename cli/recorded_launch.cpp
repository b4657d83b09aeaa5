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

// The first output of `COMMAND --version`, to tell whose mpirun it is.
std::string version_of(const std::string& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    execlp(command.c_str(), command.c_str(), "--version", nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string output;
  std::array<char, 512> piece;
  for (ssize_t got = 0; (got = read(ends[0], piece.data(), piece.size())) > 0;) {
    output.append(piece.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return output;
}

std::string outer_preload() {
  const char* outer = std::getenv("LD_PRELOAD");
  return outer != nullptr ? outer : "";
}

// Open MPI: mpirun -x … [user's arguments] : -x … [the next program's arguments]. Each program of an MPMD job has its
// own -x list.
std::vector<std::string> with_exports(const std::vector<std::string>& launch, const std::string& preload,
                                      const Environment& environment) {
  std::vector<std::string> result;
  for (auto at = launch.begin(); at != launch.end();) {
    const auto end = std::find(at, launch.end(), ":");
    if (at == launch.begin()) result.push_back(*at++);  // mpirun itself
    std::string theirs = outer_preload();
    std::vector<std::string> rest;
    for (; at != end; ++at) {
      // The user's own preload of this program, which a second -x would replace.
      if (*at == "-x" && at + 1 != end && (at + 1)->rfind("LD_PRELOAD=", 0) == 0) {
        theirs = (++at)->substr(11);
        continue;
      }
      if (*at == "-x" && at + 1 != end && *(at + 1) == "LD_PRELOAD") {  // the one of this environment
        ++at;
        continue;
      }
      rest.push_back(*at);
    }
    result.insert(result.end(), {"-x", "LD_PRELOAD=" + joined_preload(preload, theirs)});
    for (const auto& [name, value] : environment) result.insert(result.end(), {"-x", name});
    result.insert(result.end(), rest.begin(), rest.end());
    if (end == launch.end()) break;
    result.push_back(":");
    at = end + 1;
  }
  return result;
}

// Hydra, MPICH's: mpirun -genv … [user's arguments]. Its -genv is for all programs of the job; an -env is for one of
// them, and goes before it.
std::vector<std::string> with_global_environment(const std::vector<std::string>& launch, const std::string& preload,
                                                 const Environment& environment) {
  std::string for_all = outer_preload();
  std::vector<std::string> rest;
  for (std::size_t i = 1; i < launch.size(); ++i) {
    const std::string name = launch[i].substr(launch[i].starts_with("--") ? 1 : 0);
    const bool sets = (name == "-genv" || name == "-env") && i + 1 < launch.size();
    // Hydra takes NAME=VALUE as well as NAME VALUE.
    const bool is_one_word = sets && launch[i + 1].starts_with("LD_PRELOAD=");
    const bool is_two_words = sets && launch[i + 1] == "LD_PRELOAD" && i + 2 < launch.size();
    if (!is_one_word && !is_two_words) {
      rest.push_back(launch[i]);
      continue;
    }
    const std::string theirs = is_one_word ? launch[i + 1].substr(std::strlen("LD_PRELOAD=")) : launch[i + 2];
    if (name == "-genv") {
      for_all = theirs;
    } else {
      rest.insert(rest.end(), {launch[i], "LD_PRELOAD", joined_preload(preload, theirs)});
    }
    i += is_one_word ? 1 : 2;
  }
  std::vector<std::string> result{launch.front(), "-genv", "LD_PRELOAD", joined_preload(preload, for_all)};
  for (const auto& [name, value] : environment) result.insert(result.end(), {"-genv", name, value});
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

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

// Signals that ask this process to end are passed on to the launch command while it runs. A terminal sends its own to
// the whole group.
void pass_on(int signal, siginfo_t* from, void*) {
  if (running_child == 0) {
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  if (signal != SIGUSR1 && signal != SIGUSR2) asked_to_end = signal;
  if (from->si_code != SI_KERNEL) kill(static_cast<pid_t>(running_child), signal);
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
[[noreturn]] void become(const std::vector<std::string>& command, const Environment& environment, int log) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) dup2(nothing, STDIN_FILENO);
  }
  fail(execute(command).message);
  _exit(127);
}

Outcome<LaunchEnd> run_to_end(const std::vector<std::string>& command, const Environment& environment, int log) {
  std::signal(SIGCHLD, SIG_DFL);  // inherited as ignored, it would take the status away
  const SignalsPassedOn passed_on;
  // None may come between the start of the child and our knowing it.
  const SignalsHeld held;
  const pid_t child = fork();
  if (child < 0) return Failure{std::string("cannot start a process: ") + std::strerror(errno)};
  if (child == 0) {
    held.release();
    become(command, environment, log);
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

}  // namespace

Outcome<MpiFamily> family_of_launcher(const std::string& command) {
  const std::string name = fs::path(command).filename();
  constexpr std::array names{"mpirun",          "mpiexec",      "orterun",       "mpirun.openmpi",
                             "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra"};
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    const std::string version = version_of(command);
    if (version.empty()) return Failure{"'" + command + " --version' says nothing: is it installed, and in the PATH?"};
    const auto says = [&version](const char* word) { return version.find(word) != std::string::npos; };
    if (says("Open MPI") || says("OpenRTE")) return MpiFamily::open_mpi;
    if (says("HYDRA")) return MpiFamily::mpich;
  }
  return Failure{"'" + command + "' is not an mpirun of Open MPI or MPICH; under another launcher type: " + command +
                 " … halcyon exec [OPTIONS] -- PROGRAM [ARGUMENTS]"};
}

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n\"'\\$`*?;&|<>(){}[]#~") == std::string::npos;
    std::string shown = word;
    if (!plain) {
      for (std::size_t at = 0; (at = shown.find('\'', at)) != std::string::npos; at += 4) shown.replace(at, 1, "'\\''");
      shown = "'" + shown + "'";
    }
    line += (line.empty() ? "" : " ") + shown;
  }
  return line;
}

Outcome<LaunchEnd> launch_recorded(const LaunchRequest& request) {
  const Outcome<std::string> preload = preload_list(request.options, request.family);
  if (!preload) return preload.failure();
  const std::string receipt = receipt_beside(request.options.output);
  Environment environment = rank_environment(request.options);
  environment.emplace_back("HALCYON_COMMAND", quoted(request.command));
  environment.emplace_back("HALCYON_ALL_RANKS", "1");
  environment.emplace_back("HALCYON_RECEIPT", receipt);
  environment.emplace_back("HALCYON_RUN", std::to_string(std::random_device{}()) + "." + std::to_string(getpid()));
  if (!request.options.inject.empty()) environment.emplace_back("INTM_SEED", request.injection_seed);
  int log = -1;
  if (!request.log.empty()) {
    log = open(request.log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (log < 0) return Failure{"cannot write " + request.log + ": " + std::strerror(errno)};
  }
  if (unlink(receipt.c_str()) != 0 && errno != ENOENT) {  // of a process of our number, killed long ago
    return Failure{"cannot remove " + receipt + ": " + std::strerror(errno)};
  }
  const auto with_preload = request.family == MpiFamily::mpich ? with_global_environment : with_exports;
  Outcome<LaunchEnd> end = run_to_end(with_preload(request.command, *preload, environment), environment, log);
  if (log >= 0) close(log);
  if (end) end->profile = take_receipt(receipt);
  return end;
}

}  // namespace halcyon::cli
