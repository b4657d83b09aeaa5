// halcyon run: the recorder in the ranks of a launch command, and the verdict when it is over.
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
#include <memory>
#include <optional>
#include <random>

#include "analyzer/estimators.hpp"
#include "cli/commands.hpp"
#include "cli/launch.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/record/shared_settings.hpp"

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

std::optional<std::string> objection_to_launcher(const std::string& command) {
  const std::string name = fs::path(command).filename();
  constexpr std::array names{"mpirun", "mpiexec", "orterun", "mpirun.openmpi", "mpiexec.openmpi"};
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    const std::string version = version_of(command);
    if (version.empty()) return "'" + command + " --version' says nothing: is it installed, and in the PATH?";
    if (version.find("Open MPI") != std::string::npos || version.find("OpenRTE") != std::string::npos) {
      return std::nullopt;
    }
  }
  return "'" + command + "' is not an mpirun of Open MPI; under another launcher type: " + command +
         " … halcyon exec [OPTIONS] -- PROGRAM [ARGUMENTS]";
}

// mpirun -x … [user's arguments] : -x … [the next program's arguments]. Each program of an MPMD job has its own -x
// list.
std::vector<std::string> with_preload(const std::vector<std::string>& launch, const std::string& preload,
                                      const Environment& environment) {
  const char* outer = std::getenv("LD_PRELOAD");
  std::vector<std::string> result;
  for (auto at = launch.begin(); at != launch.end();) {
    const auto end = std::find(at, launch.end(), ":");
    if (at == launch.begin()) result.push_back(*at++);  // mpirun itself
    std::string theirs = outer != nullptr ? outer : "";
    std::vector<std::string> rest;
    for (; at != end; ++at) {
      // The user's own preload of this program, which a second -x would replace.
      if (*at == "-x" && at + 1 != end && (at + 1)->rfind("LD_PRELOAD=", 0) == 0) {
        theirs = (++at)->substr(11);
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

// As the user would type it.
std::string shown_path(const std::string& path) {
  std::error_code error;
  const fs::path relative = fs::path(path).lexically_relative(fs::current_path(error));
  return relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

volatile std::sig_atomic_t running_child = 0;

// Signals that ask this process to end are passed on to the launch command while it runs.
void pass_on(int signal) {
  if (running_child > 0) {
    kill(static_cast<pid_t>(running_child), signal);
  } else {
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
}

int run_to_end(const std::vector<std::string>& command) {
  struct sigaction forward {};
  forward.sa_handler = pass_on;
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) sigaction(signal, &forward, nullptr);
  const pid_t child = fork();
  if (child < 0) return fail(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    fail(execute(command).message);
    _exit(127);
  }
  running_child = child;
  std::signal(SIGINT, SIG_IGN);  // a terminal sends it to the whole group
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running_child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// The user's seed, or a new one: either way it is in the profile, and the run can be repeated.
std::string injection_seed() {
  const char* given = std::getenv("INTM_SEED");
  return given != nullptr && *given != '\0' ? given : std::to_string(std::random_device{}());
}

int run(RankOptions options) {
  const std::vector<std::string>& launch = program_arguments();
  if (launch.empty()) return fail("no launch command given: halcyon run [OPTIONS] -- mpirun -np 4 ./app");
  if (const std::optional<std::string> objection = objection_to_launcher(launch.front())) return fail(*objection);
  options.output = fs::absolute(options.output.empty() ? default_output : options.output).lexically_normal().string();
  // Before the run starts is the time to hear that its profile could not be written.
  if (const std::optional<std::string> objection = objection_to_writing(options.output)) return fail(*objection);
  const Outcome<std::string> preload = preload_list(options);
  if (!preload) return fail(preload.failure().message);

  const std::string receipt = receipt_beside(options.output);
  Environment environment = rank_environment(options);
  environment.emplace_back("HALCYON_COMMAND", quoted(launch));
  environment.emplace_back("HALCYON_ALL_RANKS", "1");
  environment.emplace_back("HALCYON_RECEIPT", receipt);
  if (!options.inject.empty()) environment.emplace_back("INTM_SEED", injection_seed());
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  const int status = run_to_end(with_preload(launch, *preload, environment));

  // Where something went wrong, the program's own failure says more than the missing profile.
  const int failed = status != 0 ? status : int{bad_usage_or_file};
  const std::optional<std::string> path = take_receipt(receipt);
  if (!path) {
    fail("no profile was written: the program did not reach MPI_Finalize on all ranks, or is no MPI program");
    return failed;
  }
  const Outcome<Profile> profile = read_profile(*path);
  if (!profile) {
    fail(profile.failure().message);
    return failed;
  }
  const Analysis analysis = analyze(*profile, methods.front().name);
  std::fprintf(stderr, "halcyon: %s\nhalcyon: more by: halcyon report %s\n",
               verdict_line(*profile, analysis, colour_for(STDERR_FILENO)).c_str(),
               quoted({shown_path(*path)}).c_str());
  return status;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand("run", "Profile a run of an MPI program, and give the verdict");
  auto options = std::make_shared<RankOptions>();
  add_rank_options(*command, *options);
  command->footer(
      "The launch command stands behind '--'. Examples:\n"
      "  halcyon run -- mpirun -np 4 ./app input\n"
      "  halcyon run -o noisy.h5 --inject class=all,prob=0.0003,mean=50ms,sd=5ms -- mpirun -np 2 ./app\n"
      "The exit status is the program's; 2 if nothing could be measured.");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace halcyon::cli
