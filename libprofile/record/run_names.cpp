#include "libprofile/record/run_names.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "libprofile/interpose/next.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/system/environment.hpp"
#include "libprofile/system/fnv1a.hpp"
#include "libprofile/system/launcher.hpp"
#include "libprofile/system/own_executable.hpp"
#include "libprofile/system/shortened.hpp"

namespace halcyon {
namespace {

std::vector<std::string> own_arguments() {
  std::vector<std::string> arguments;
  // Calls the kernel directly: intM, if it is loaded, must not take this for a read by the application.
  const long file = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return arguments;
  std::string all;
  char piece[4096];
  for (long got = 0; (got = syscall(SYS_read, file, piece, sizeof piece)) > 0;) {
    all.append(piece, static_cast<std::size_t>(got));
  }
  syscall(SYS_close, file);
  for (std::size_t at = 0; at < all.size(); at += arguments.back().size() + 1) {
    arguments.emplace_back(all, at, all.find('\0', at) - at);
  }
  return arguments;
}

// The name of the script or module that Python was started with; empty if `program` is not Python, or has none.
std::string script_of(const std::string& program, const std::vector<std::string>& arguments) {
  if (!program.starts_with("python") && !program.starts_with("pypy")) return {};
  // Skips options between the interpreter and its script: `-X dev -u`, and `-m mpi4py`, which runs the script after it.
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-m" && i + 1 < arguments.size()) {
      if (arguments[i + 1] != "mpi4py" && arguments[i + 1] != "mpi4py.run") return arguments[i + 1];
      ++i;
    } else if (argument == "-W" || argument == "-X" || argument == "--check-hash-based-pycs") {
      ++i;
    } else if (argument == "-c" || argument == "-") {
      return {};
    } else if (argument.empty() || argument.front() != '-') {
      return base_name(argument.c_str());
    }
  }
  return {};
}

void replace(std::string& text, const std::string& name, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size()) {
    text.replace(at, name.size(), value);
  }
}

std::string job_id() {
  const char* job = launcher::batch_job();
  return job != nullptr ? job : "nojob";
}

}  // namespace

std::string own_program() {
  const std::string full = own_executable();
  if (full.empty()) return "unknown";
  const std::string program = base_name(full.c_str());
  const std::string script = script_of(program, own_arguments());
  return script.empty() ? program : script;
}

std::string own_command() {
  std::string command;
  for (const std::string& argument : own_arguments()) command += (command.empty() ? "" : " ") + argument;
  return command.empty() ? "unknown" : shortened(command, longest_command);
}

std::string job_name() {
  if (const char* job = launcher::batch_job()) {
    const char* step = launcher::batch_step();
    return step != nullptr ? std::string(job) + "." + step : job;
  }
  const char* launched = launcher::launched_job();
  return launched != nullptr ? launched : "";
}

std::string timestamp_of(std::time_t time) {
  char text[32];
  std::tm parts{};
  localtime_r(&time, &parts);
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%S", &parts);
  return text;
}

std::uint64_t run_number() {
  const char* told = setting("HALCYON_RUN");
  std::string identity = told != nullptr ? std::string("HALCYON_RUN=") + told + ";" : "";
  identity += launcher::identity();
  if (identity.empty()) identity = std::to_string(getppid());  // the launcher's process on this host
  return fnv1a(identity);
}

std::string name_of_run() {
  char name[20];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(run_number()));
  return name;
}

std::string expand_output(const std::string& pattern, int ranks, const std::string& timestamp) {
  const std::array<std::string, output_placeholders.size()> values{own_program(), std::to_string(ranks), job_id(),
                                                                   timestamp};
  std::string path = pattern;
  for (std::size_t i = 0; i < values.size(); ++i) replace(path, std::string(output_placeholders[i]), values[i]);
  return path;
}

}  // namespace halcyon
