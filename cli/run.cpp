// halcyon run: the recorder in the ranks of a launch command, and the verdict when it is over.
#include <fcntl.h>
#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>

#include "analyzer/estimators.hpp"
#include "cli/commands.hpp"
#include "cli/launch.hpp"
#include "libprofile/format/profile_reader.hpp"

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

bool is_open_mpi_launcher(const std::string& command) {
  const std::string name = fs::path(command).filename();
  constexpr std::array names{"mpirun", "mpiexec", "orterun", "mpirun.openmpi", "mpiexec.openmpi"};
  if (std::find(names.begin(), names.end(), name) == names.end()) return false;
  const std::string version = version_of(command);
  return version.find("Open MPI") != std::string::npos || version.find("OpenRTE") != std::string::npos;
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

// The profile's path as far as it is known before the ranks are: {app} and {np} stay open.
std::string output_pattern(const std::string& option) {
  std::array<char, 32> timestamp{};
  const std::time_t now = std::time(nullptr);
  std::strftime(timestamp.data(), timestamp.size(), "%Y%m%dT%H%M%S", std::localtime(&now));
  std::string pattern = option.empty() ? "{app}.{np}p.{jobid}.{timestamp}.h5" : option;
  const std::string name = "{timestamp}";
  // With the process number, so that runs that start in one second keep apart.
  for (std::size_t at = 0; (at = pattern.find(name, at)) != std::string::npos;) {
    pattern.replace(at, name.size(), std::string(timestamp.data()) + "-" + std::to_string(getpid()));
  }
  return fs::absolute(pattern).lexically_normal().string();
}

std::optional<std::string> find_profile(std::string pattern) {
  for (const char* open : {"{app}", "{np}", "{jobid}"}) {
    for (std::size_t at = 0; (at = pattern.find(open, at)) != std::string::npos;)
      pattern.replace(at, std::strlen(open), "*");
  }
  glob_t found{};
  std::optional<std::string> path;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0 && found.gl_pathc > 0) path = found.gl_pathv[found.gl_pathc - 1];
  globfree(&found);
  return path;
}

volatile std::sig_atomic_t running_child = 0;

// Waits for the launch command; signals that ask this process to end are passed on to it.
int run_to_end(const std::vector<std::string>& command) {
  const pid_t child = fork();
  if (child < 0) return fail(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    fail(execute(command).message);
    _exit(127);
  }
  running_child = child;
  struct sigaction forward {};
  forward.sa_handler = [](int signal) { kill(static_cast<pid_t>(running_child), signal); };
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) sigaction(signal, &forward, nullptr);
  std::signal(SIGINT, SIG_IGN);  // a terminal sends it to the whole group
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Before the run starts is the time to hear that its profile could not be written.
std::optional<std::string> objection_to(const std::string& pattern) {
  const fs::path directory = fs::path(pattern).parent_path();
  std::error_code error;
  if (!fs::is_directory(directory, error))
    return "cannot write " + pattern + ": " + directory.string() + " is not a directory";
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return "cannot write " + pattern + ": " + std::strerror(errno);
  }
  if (fs::exists(pattern, error))
    return pattern + " exists; profiles are never overwritten: remove it or give another name";
  return std::nullopt;
}

int run(RankOptions options) {
  const std::vector<std::string>& launch = program_arguments();
  if (launch.empty()) return fail("no launch command given: halcyon run [OPTIONS] -- mpirun -np 4 ./app");
  if (!is_open_mpi_launcher(launch.front())) {
    return fail("'" + launch.front() + "' is not an mpirun of Open MPI; under another launcher type: " +
                launch.front() + " … halcyon exec [OPTIONS] -- PROGRAM [ARGUMENTS]");
  }
  options.output = output_pattern(options.output);
  if (const std::optional<std::string> objection = objection_to(options.output)) return fail(*objection);
  const Outcome<std::string> preload = preload_list(options);
  if (!preload) return fail(preload.failure().message);

  Environment environment = rank_environment(options);
  environment.emplace_back("HALCYON_COMMAND", quoted(launch));
  environment.emplace_back("HALCYON_ALL_RANKS", "1");
  if (std::getenv("INTM_SEED") != nullptr) environment.emplace_back("INTM_SEED", std::getenv("INTM_SEED"));
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  const int status = run_to_end(with_preload(launch, *preload, environment));

  const std::optional<std::string> path = find_profile(options.output);
  if (!path) {
    // The program's own failure says more than the missing profile.
    fail("no profile was written: the program did not reach MPI_Finalize on all ranks, or is no MPI program");
    return status != 0 ? status : int{bad_usage_or_file};
  }
  const Outcome<Profile> profile = read_profile(*path);
  if (!profile) {
    fail(profile.failure().message);
    return status != 0 ? status : int{bad_usage_or_file};
  }
  const Analysis analysis = analyze(*profile, methods.front().name);
  std::fprintf(stderr, "halcyon: %s\nhalcyon: more by: halcyon report %s\n",
               verdict_line(*profile, analysis, colour_for(STDERR_FILENO)).c_str(), quoted({*path}).c_str());
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
