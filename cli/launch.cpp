#include "cli/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "intm/spec.hpp"
#include "libprofile/record/shared_settings.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

// Relative to the command, so that an installation can be moved: where it is installed, or in the build tree.
Outcome<std::string> library(const std::string& name) {
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = (bin / HALCYON_PRELOADDIR_FROM_BINDIR).lexically_normal();
  for (const fs::path& directory : {installed, (bin / "../lib").lexically_normal()}) {
    if (fs::exists(directory / name, error)) return (directory / name).string();
  }
  return Failure{name + " is not where it belongs (" + installed.string() + "): is the installation complete?"};
}

// What the recorder would read, so that nothing is refused only when the ranks run.
std::string whole_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = error == std::errc() && end == text.data() + text.size() && number > 0;
  return good ? std::string() : "'" + text + "' is not a whole number above 0";
}

}  // namespace

void add_recording_options(const Command& command, RankOptions& options) {
  command.option("--counter", options.counter, "Measure of work. Default: auto")
      .placeholder("auto|papi:EVENT|cpu|none")
      .check([](const std::string& text) {
        CounterRequest request;
        return parse_counter(text, request) ? std::string() : "'" + text + "' is not auto, papi:EVENT, cpu or none";
      });
  command.option("--boundary", options.boundary, "What ends segments. Default: auto")
      .placeholder("auto|all-to-all|rooted|pcontrol")
      .check([](const std::string& text) {
        BoundaryChoice choice{};
        return parse_boundary(text, choice) ? std::string()
                                            : "'" + text + "' is not auto, all-to-all, rooted or pcontrol";
      });
  command
      .option("--boundary-ranks", options.boundary_ranks,
              "Collectives over at least N ranks end segments. Default: the whole world")
      .placeholder("N")
      .check(whole_number);
  command.option("--memory", options.memory, "Most memory for segments on a rank, in MiB. Default: 512")
      .placeholder("MIB")
      .check(whole_number);
  command
      .option("--spill", options.spill,
              "Save to FILE.h5.parts every SECONDS, for `halcyon recover`; 0: only when "
              "the run dies. Default: " +
                  std::to_string(default_spill_seconds))
      .placeholder("SECONDS")
      .check([](const std::string& text) {
        int seconds = 0;
        return parse_spill(text, seconds) ? std::string() : "'" + text + "' is not a whole number of seconds";
      });
  command
      .option("--background", options.background,
              "Measure the machine's background for so long, half before and half after the run. Default: " +
                  (options.background.empty() ? "0" : options.background))
      .placeholder("SECONDS")
      .check([](const std::string& text) {
        double seconds = 0.0;
        return parse_background(text, seconds)
                   ? std::string()
                   : fmt::format("'{}' is not a number of seconds up to {:.0f}", text, longest_background_seconds);
      });
  command.flag("--no-probes", options.no_probes,
               "Do not spend some milliseconds before and after the run on measuring the machine's speed");
}

void add_rank_options(const Command& command, RankOptions& options) {
  command
      .option("-o,--output", options.output,
              "Profile to write; {app}, {np}, {jobid} and {timestamp} are replaced. Default: " +
                  std::string(default_output))
      .placeholder("FILE");
  add_recording_options(command, options);
  command
      .option("--inject", options.inject,
              "Delay calls: class=p2p|collective|mpiio|posixio|all,prob=P,mean=5ms,sd=1ms; then, as wanted and without "
              "blanks, ,ranks=0-3 ,after=2s ,until=9s ,every=1s,for=100ms; may be repeated")
      .placeholder("SPEC")
      .repeatable()
      .check([](const std::string& text) {
        const Outcome<InjectionSpec> spec = parse_spec(text);
        return spec ? std::string() : spec.failure().message;
      });
}

std::optional<MpiFamily> family_of_program(const std::string& program) {
  const std::optional<std::string> path = found_program(program);
  if (!path) return std::nullopt;
  const std::string libraries = output_of({"ldd", *path});
  const auto names = [&libraries](const char* library) { return libraries.find(library) != std::string::npos; };
  // Debian renames MPICH's libmpi.so.12.
  if (names("libmpich.so") || names("libmpi.so.12")) return MpiFamily::mpich;
  return names("libmpi.so") ? std::optional(MpiFamily::open_mpi) : std::nullopt;
}

MpiFamily family_of_rank(const std::string& program) {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  if (is_set("OMPI_COMM_WORLD_RANK")) return MpiFamily::open_mpi;
  if (const std::optional<MpiFamily> family = family_of_program(program)) return *family;
  // Either family has been seen with either interface; where there is nothing for MPICH it is hardly MPICH.
  const bool is_pmi_alone = is_set("PMI_RANK") && !is_set("PMIX_RANK");
  return is_pmi_alone && preload_list({}, MpiFamily::mpich) ? MpiFamily::mpich : MpiFamily::open_mpi;
}

Outcome<std::string> preload_list(const RankOptions& options, MpiFamily family) {
  const std::string ending = family == MpiFamily::mpich ? "-mpich.so" : ".so";
  Outcome<std::string> recorder = library("libhalcyon" + ending);
  if (!recorder || options.inject.empty()) return recorder;
  const Outcome<std::string> injector = library("libintm" + ending);
  if (!injector) return injector;
  // The injector behind the recorder: its delays lie inside what is measured.
  return *recorder + ":" + *injector;
}

Environment rank_environment(const RankOptions& options) {
  Environment environment;
  const auto add = [&environment](const char* name, const std::string& value) {
    if (!value.empty()) environment.emplace_back(name, value);
  };
  add("HALCYON_OUTPUT", options.output);
  add("HALCYON_COUNTER", options.counter);
  add("HALCYON_BOUNDARY", options.boundary);
  add("HALCYON_BOUNDARY_RANKS", options.boundary_ranks);
  add("HALCYON_MEMORY", options.memory);
  add("HALCYON_SPILL", options.spill);
  add("HALCYON_BACKGROUND", options.background);
  add("HALCYON_PROBES", options.no_probes ? "off" : "");
  std::string specs;
  for (const std::string& spec : options.inject) specs += (specs.empty() ? "" : " ") + spec;
  add("INTM_SPEC", specs);
  return environment;
}

std::string joined_preload(const std::string& ours, const std::string& theirs) {
  return theirs.empty() ? ours : ours + ":" + theirs;
}

std::optional<std::string> found_program(const std::string& command) {
  const char* searched = std::getenv("PATH");
  std::istringstream directories(command.find('/') != std::string::npos || searched == nullptr ? "" : searched);
  std::error_code error;
  const auto is_program = [&error](const std::string& path) {
    return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, error);
  };
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string path = (fs::path(directory) / command).string();
    if (is_program(path)) return path;
  }
  return command.find('/') != std::string::npos && is_program(command) ? std::optional(command) : std::nullopt;
}

std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    execute(command);
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

Failure execute(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  return {"cannot start " + command.front() + ": " + std::strerror(errno)};
}

std::vector<std::string>& program_arguments() {
  static std::vector<std::string> arguments;
  return arguments;
}

}  // namespace halcyon::cli
