#include "cli/launch/diagnosis.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/launch/job.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/launch/mpi_family.hpp"
#include "libprofile/shared/clock.hpp"
#include "libprofile/shared/counter.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The file that the launcher starts; nothing if no word behind the launcher is a program.
std::optional<std::string> started_by(const Words& launch) {
  for (std::size_t i = 1; i < launch.size(); ++i) {
    if (const std::optional<std::string> path = found_program(launch[i])) return path;
  }
  return std::nullopt;
}

Finding launcher_finding(const Words& launch, const Outcome<Launcher>& launcher) {
  if (!launcher) {
    return {"launcher", launcher.failure().message, State::problem,
            "Put the launch command after '--', or use halcyon exec in each rank."};
  }
  if (launcher->kind == Launcher::Kind::srun) return {"launcher", "srun (Slurm)"};
  return {"launcher", launch.front() + ": " + first_line(launcher->version)};
}

Finding program_finding(const Words& launch, const Launcher& launcher) {
  const std::optional<std::string> path = started_by(launch);
  if (!path) {
    return {"program", "no word of the command is a program", State::problem,
            "Check its spelling, and that it is executable and in PATH."};
  }
  if (is_static(*path)) {
    return {"program", *path + " is linked statically, so that nothing can be preloaded into it", State::problem,
            "Link it dynamically with the MPI library."};
  }
  const std::optional<MpiLibrary>& library = launcher.library;
  if (!library) {
    return {"program", *path + " is linked with no MPI library", State::note,
            "For a script or a wrapper this is usual. A program without MPI has nothing to record."};
  }
  if (!starts(launcher.kind, library->family)) {
    return {"program", *path + " uses " + library->path + ", which is not the launcher's MPI", State::problem,
            "Start it with the mpirun of its own MPI: its ranks would not find each other."};
  }
  return {"program", *path + " uses " + library->path};
}

Finding recorder_finding(const Launcher& launcher) {
  const Outcome<std::string> list = preload_list(launcher.family, false);
  if (!list) return {"recorder", list.failure().message, State::problem, "Install or build Halcyon completely."};
  return {"recorder", *list + " (for " + std::string(info_of(launcher.family).words) + ")"};
}

Finding counter_finding() {
  Counter counter;
  std::string complaint;
  counter.choose(CounterRequest{}, complaint);
  counter.stop();
  if (counter.kind() == Counter::Kind::papi) return {"counter", counter.name()};
  return {"counter", "CPU time: there are no hardware counters that this user may read", State::note,
          "Nothing needs to be done. Counters need 2 or less in /proc/sys/kernel/perf_event_paranoid."};
}

Finding clock_finding() {
  if (has_invariant_tsc()) return {"clock", "the time stamp counter, with one rate on all cores"};
  return {"clock", "CLOCK_MONOTONIC, since the time stamp counter has no constant rate here", State::note,
          "Nothing needs to be done. Each call costs a few ns more."};
}

Finding room_finding(const std::string& subject, const fs::path& directory, const std::string& use,
                     const std::string& remedy) {
  constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
  constexpr std::uintmax_t enough = 64u << 20;  // bytes
  std::error_code error;
  const fs::space_info space = fs::space(directory, error);
  if (error) return {subject, "the directory " + directory.string() + " is gone", State::problem, remedy};
  const std::string free =
      fmt::format("{}, {:.1f} GiB free ({})", directory.string(), static_cast<double>(space.available) / gibibyte, use);
  if (access(directory.c_str(), W_OK | X_OK) != 0)
    return {subject, directory.string() + " cannot be written", State::problem, remedy};
  return space.available >= enough ? Finding{subject, free} : Finding{subject, free, State::note, remedy};
}

}  // namespace

std::vector<Finding> diagnosis_of(const Words& launch) {
  std::vector<Finding> findings;
  std::error_code error;  // the directory may be gone: its finding says so
  if (!launch.empty()) {
    const Outcome<Launcher> launcher = launcher_of(launch);
    findings.push_back(launcher_finding(launch, launcher));
    if (launcher) {
      findings.push_back(program_finding(launch, *launcher));
      findings.push_back(recorder_finding(*launcher));
    }
  }
  findings.push_back(counter_finding());
  findings.push_back(clock_finding());
  findings.push_back(room_finding("live", "/dev/shm", "what halcyon watch reads",
                                  "The program is recorded all the same; halcyon watch cannot see it."));
  findings.push_back(room_finding("files", fs::current_path(error), "the profile, and parts of long runs",
                                  "Name another place with halcyon run -o FILE."));
  return findings;
}

}  // namespace halcyon::cli
