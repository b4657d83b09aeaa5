#include "cli/launch/directory_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "libprofile/system/process_facts.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

// The kernel lists the locks of a descriptor in its fdinfo.
bool has_lock(const fs::path& process, const fs::path& descriptor) {
  std::ifstream in(process / "fdinfo" / descriptor.filename());
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("lock:") && line.find("FLOCK") != std::string::npos) return true;
  }
  return false;
}

bool holds(const fs::path& process, const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator each(process / "fd", error), end; !error && each != end; each.increment(error)) {
    std::error_code gone;
    if (fs::read_symlink(each->path(), gone) == directory && has_lock(process, each->path())) return true;
  }
  return false;
}

std::optional<pid_t> holder_of(const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator each("/proc", error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename();
    const bool is_process = std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (is_process && holds(each->path(), directory)) return std::atoi(name.c_str());
  }
  return std::nullopt;
}

std::string words_of_holder(const fs::path& directory) {
  std::error_code error;
  const std::optional<pid_t> process = holder_of(fs::canonical(directory, error));
  const std::optional<ProcessFacts> facts = process ? facts_of(*process) : std::nullopt;
  return facts ? fmt::format("process {} ({})", *process, facts->name.data()) : "another halcyon, or a job of one,";
}

}  // namespace

Outcome<Descriptor> lock_directory(const fs::path& directory) {
  Descriptor lock(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || flock(lock.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return lock;
  return Failure{
      fmt::format("{} is making runs in {}: wait until it has ended", words_of_holder(directory), directory.string())};
}

}  // namespace halcyon::cli
