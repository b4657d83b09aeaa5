#include "cli/launch/diagnosis.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/launch/build_parts.hpp"
#include "cli/launch/job.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/launch/program_finding.hpp"
#include "libprofile/shared/clock.hpp"
#include "libprofile/shared/counter.hpp"
#include "libprofile/shared/hardware_counters.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

// Hydra of MPICH begins with "HYDRA build details:", and says its version in a line of its own.
std::string words_of_version(const std::string& text) {
  const Words words = split_at_blanks(text);
  if (words.size() > 4 && words[0] == "HYDRA" && words[3] == "Version:") return "Hydra " + words[4];
  return text.substr(0, text.find('\n'));
}

Finding launcher_finding(const Words& launch, const Outcome<Launcher>& launcher) {
  if (!launcher) {
    const bool is_there = found_program(launch.front()).has_value();
    return {"launcher", launcher.failure().message, State::problem,
            is_there ? "Put the launch command after '--', or use halcyon exec in each rank."
                     : "Load the module of your MPI, or give the launcher's whole path."};
  }
  if (launcher->kind == Launcher::Kind::srun) return {"launcher", "srun (Slurm)"};
  return {"launcher", launch.front() + ": " + words_of_version(launcher->version)};
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
  if (counter.kind() == Counter::Kind::papi) return {"counter", counter.name()};
  // Where the kernel shows counters, PAPI says why it cannot use them.
  if (!complaint.empty()) return {"counter", complaint, State::note, "Nothing needs to be done."};
  const int error = error_of_hardware_counters();
  if (error == EACCES || error == EPERM) {
    return {
        "counter", "CPU time: this user may not read the hardware counters", State::note,
        "Nothing needs to be done. To have them, set /proc/sys/kernel/perf_event_paranoid to 2 or less; a container "
        "must allow perf_event_open."};
  }
  return {"counter", "CPU time: this machine shows no hardware counters", State::note,
          "Nothing needs to be done. Most virtual machines have none."};
}

// What this Halcyon was built with, or a finding for each library that it was built without.
std::vector<Finding> build_findings() {
  std::vector<Finding> findings;
  for (const LeftOut& library : left_out) {
    findings.push_back({"build", fmt::format("without {}: {}", library.name, library.loss), Finding::State::note,
                        "Nothing needs to be done, unless you want it: then build Halcyon where it is installed."});
  }
  if (findings.empty()) findings.push_back({"build", fmt::format("with {}", built_with)});
  return findings;
}

Finding clock_finding() {
  switch (best_clock_source()) {
    case ClockSource::time_stamp_counter: return {"clock", "the time stamp counter, with one rate on all cores"};
    case ClockSource::generic_timer:
      return {"clock",
              fmt::format("the generic timer, {:g} MHz as it says", 1e-6 * static_cast<double>(claimed_rate()))};
    case ClockSource::monotonic: break;
  }
  return {"clock", "CLOCK_MONOTONIC, since the processor shows no counter of a constant rate", State::note,
          "Nothing needs to be done. Each call costs a few ns more."};
}

Finding room_finding(const std::string& subject, const fs::path& directory, const std::string& use,
                     const std::string& remedy) {
  constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
  constexpr std::uintmax_t enough = 64u << 20;  // bytes
  std::error_code error;
  const fs::space_info space = fs::space(directory, error);
  if (error) {
    const std::string name = directory.empty() ? "the current directory" : "the directory " + directory.string();
    return {subject, name + " is gone", State::problem, remedy};
  }
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
  for (Finding& finding : build_findings()) findings.push_back(std::move(finding));
  findings.push_back(counter_finding());
  findings.push_back(clock_finding());
  findings.push_back(room_finding("live", "/dev/shm", "what halcyon watch reads",
                                  "The program is recorded all the same; halcyon watch cannot see it."));
  findings.push_back(room_finding("files", fs::current_path(error), "the profile, and parts of long runs",
                                  "Name another place with halcyon run -o FILE."));
  return findings;
}

}  // namespace halcyon::cli
