#include "libprofile/record/settings.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string_view>

#include "libprofile/interpose/next.hpp"
#include "libprofile/system/environment.hpp"
#include "libprofile/system/fnv1a.hpp"
#include "libprofile/system/launcher.hpp"

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

std::string own_command() {
  std::string command;
  for (const std::string& argument : own_arguments()) command += (command.empty() ? "" : " ") + argument;
  return command.empty() ? "unknown" : command;
}

std::string own_program() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  const std::string full(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  if (full.empty()) return "unknown";
  const std::string program = base_name(full.c_str());
  const std::string script = script_of(program, own_arguments());
  return script.empty() ? program : script;
}

// A positive integer that an int can hold, or 0.
int positive(const char* text) {
  char* end = nullptr;
  const unsigned long number = std::strtoul(text, &end, 10);
  const bool good = *end == '\0' && *text >= '0' && *text <= '9' && number <= std::numeric_limits<int>::max();
  return good ? static_cast<int>(number) : 0;
}

// Relative to the directory that the run was started in, since programs change their directory.
std::string from_start_directory(const std::string& path) {
  char directory[4096];
  if (path.front() == '/' || getcwd(directory, sizeof directory) == nullptr) return path;
  return std::string(directory) + "/" + path;
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

// What the user knows the job by; empty without a batch system or a launcher that names it.
std::string job_name() {
  if (const char* job = launcher::batch_job()) {
    const char* step = launcher::batch_step();
    return step != nullptr ? std::string(job) + "." + step : job;
  }
  const char* launched = launcher::launched_job();
  return launched != nullptr ? launched : "";
}

}  // namespace

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

Settings settings_from_environment(std::string& complaint) {
  Settings settings;
  const char* output = environment_value("HALCYON_OUTPUT");
  settings.output = from_start_directory(output != nullptr ? output : default_output);
  if (const char* receipt = environment_value("HALCYON_RECEIPT")) settings.receipt = receipt;
  const char* command = environment_value("HALCYON_COMMAND");
  settings.command = command != nullptr ? command : own_command();
  if (const char* text = environment_value("HALCYON_COUNTER");
      text != nullptr && !parse_counter(text, settings.counter)) {
    complaint = std::string("HALCYON_COUNTER=") + text + " is not " + one_of(counter_names) + "; auto is used instead";
  }
  if (const char* text = environment_value("HALCYON_BOUNDARY");
      text != nullptr && !parse_boundary(text, settings.boundary)) {
    complaint =
        std::string("HALCYON_BOUNDARY=") + text + " is not " + one_of(boundary_choice_names) + "; auto is used instead";
  }
  if (const char* text = environment_value("HALCYON_BOUNDARY_RANKS")) {
    settings.boundary_ranks = positive(text);
    if (settings.boundary_ranks == 0) {
      complaint =
          std::string("HALCYON_BOUNDARY_RANKS=") + text + " is not a number of ranks; all ranks are used instead";
    }
  }
  if (const char* text = environment_value("HALCYON_MEMORY")) {
    if (const int mebibytes = positive(text); mebibytes > 0) {
      settings.memory_bytes = static_cast<std::size_t>(mebibytes) << 20;
    } else {
      complaint = std::string("HALCYON_MEMORY=") + text + " is not a number of MiB; 512 is used instead";
    }
  }
  if (const char* text = environment_value("HALCYON_SPILL");
      text != nullptr && !parse_spill(text, settings.spill_seconds)) {
    complaint = std::string("HALCYON_SPILL=") + text + " is not a whole number of seconds; " +
                std::to_string(default_spill_seconds) + " is used instead";
  }
  if (const char* text = environment_value("HALCYON_BACKGROUND");
      text != nullptr && !parse_background(text, settings.background_seconds)) {
    complaint = std::string("HALCYON_BACKGROUND=") + text +
                " is not a number of seconds up to 60; the background is not measured";
  }
  if (const char* text = environment_value("HALCYON_PROBES"); text != nullptr && !parse_switch(text, settings.probes)) {
    complaint = std::string("HALCYON_PROBES=") + text + " is neither on nor off; the machine is probed";
  }
  bool is_live = false;
  if (const char* text = environment_value("HALCYON_LIVE"); text != nullptr && !parse_switch(text, is_live)) {
    complaint = std::string("HALCYON_LIVE=") + text + " is neither on nor off; there is no live record";
  }
  if (is_live) settings.live_record = name_of_run();
  settings.job = job_name();
  return settings;
}

void set_apart_from_parent(Settings& settings) {
  constexpr std::string_view extension = ".h5";
  const std::size_t end = settings.output.size() - (settings.output.ends_with(extension) ? extension.size() : 0);
  settings.output.insert(end, ".spawned");
  settings.command = own_command();
  settings.receipt.clear();
  if (!settings.live_record.empty()) settings.live_record += ".spawned";
}

std::string timestamp_of(std::time_t time) {
  char text[32];
  std::tm parts{};
  localtime_r(&time, &parts);
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%S", &parts);
  return text;
}

bool has_other_hosts(int ranks) {
  if (const char* here = launcher::ranks_of_host()) return positive(here) < ranks;
  const char* hosts = launcher::hosts_of_step();
  return hosts != nullptr && positive(hosts) > 1;
}

std::uint64_t run_number() {
  const char* told = environment_value("HALCYON_RUN");
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
  std::string path = pattern;
  replace(path, "{app}", own_program());
  replace(path, "{np}", std::to_string(ranks));
  replace(path, "{jobid}", job_id());
  replace(path, "{timestamp}", timestamp);
  return path;
}

}  // namespace halcyon
