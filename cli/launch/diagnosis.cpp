#include "cli/launch/diagnosis.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "cli/launch/build_parts.hpp"
#include "cli/launch/host_use.hpp"
#include "cli/launch/job.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/launch/program_finding.hpp"
#include "cli/launch/rank_side.hpp"
#include "libprofile/shared/clock.hpp"
#include "libprofile/shared/counter.hpp"
#include "libprofile/shared/hardware_counters.hpp"
#include "libprofile/shared/output_file.hpp"
#include "libprofile/shared/spool.hpp"
#include "libprofile/system/environment.hpp"

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

// Open MPI's launchers start nothing for root that has not said twice that it is meant: by an option, or by variables.
bool refuses_root(const Words& launch) {
  const auto is_said = [](const std::string& by) {
    const char* const first = std::getenv((by + "_ALLOW_RUN_AS_ROOT").c_str());
    const char* const second = std::getenv((by + "_ALLOW_RUN_AS_ROOT_CONFIRM").c_str());
    return first != nullptr && second != nullptr && *first == '1' && *second == '1';
  };
  return geteuid() == 0 && !is_said("OMPI") && !is_said("PRTE") &&
         std::find(launch.begin(), launch.end(), "--allow-run-as-root") == launch.end();
}

Finding launcher_finding(const Words& launch, const Outcome<Launcher>& launcher) {
  if (!launcher) {
    const bool is_there = found_program(launch.front()).has_value();
    return {"launcher", launcher.failure().message, State::problem,
            is_there ? "Put the launch command after '--', or use halcyon exec in each rank."
                     : "Load the module of your MPI, or give the launcher's whole path."};
  }
  if (launcher->kind == Launcher::Kind::srun) return {"launcher", "srun (Slurm)"};
  const std::string named = launch.front() + ": " + words_of_version(launcher->version);
  if (launcher->kind == Launcher::Kind::open_mpi && refuses_root(launch)) {
    return {"launcher", named + ", which starts nothing as root", State::problem,
            "Use another user, or type: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
  }
  return {"launcher", named};
}

Finding recorder_finding(MpiFamily family) {
  const Outcome<std::string> list = preload_list(family, false);
  if (!list)
    return {"recorder", list.failure().message, State::problem,
            "Install or build Halcyon completely, in a directory without blanks and colons."};
  return {"recorder", *list + " (for " + std::string(info_of(family).words) + ")"};
}

// Where the profile is to be, as the options of `halcyon exec` say, or else the environment; empty if neither does.
std::string output_of_rank(const Words& options) {
  for (std::size_t i = 0; i + 1 < options.size(); ++i) {
    if (options[i] == "-o" || options[i] == "--output") return options[i + 1];
  }
  const char* const named = environment_value("HALCYON_OUTPUT");
  return named != nullptr ? named : "";
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

Finding host_finding(const LookAtHost& look) {
  const HostUse use = look.use();
  if (!use.is_busy()) return {"host", in_words(use)};
  return {"host", in_words(use), State::note,
          "Measure when it is idle, or elsewhere: what others take from the ranks counts as time from outside."};
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

// Of the site's ledger, if runs are recorded for it.
std::optional<Finding> ledger_finding() {
  const char* const spool = environment_value("HALCYON_LEDGER");
  if (spool == nullptr) return std::nullopt;
  if (spool == spool::not_wanted) return Finding{"ledger", "HALCYON_LEDGER=off: your runs get no row in it"};
  if (spool::has_file_of_the_operator(spool, spool::name_of_switch)) {
    return Finding{"ledger",
                   fmt::format("{} turns recording for it off", (fs::path(spool) / spool::name_of_switch).string()),
                   State::note, "Nothing needs to be done. The operator removes this file to go on."};
  }
  Finding finding = room_finding("ledger", spool, "each run gets a row by way of it",
                                 "Programs run all the same. Tell the operator, or set HALCYON_LEDGER=off.");
  if (finding.state == State::problem) finding.state = State::note;
  const fs::path excluded = fs::path(spool) / spool::name_of_excluded;
  if (spool::has_file_of_the_operator(spool, spool::name_of_excluded))
    finding.text += ", but for the programs in " + excluded.string();
  return finding;
}

}  // namespace

const Finding* Diagnosis::problem() const {
  const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.state == State::problem && finding.subject != "live";
  });
  return found != findings.end() ? &*found : nullptr;
}

Diagnosis diagnosis_of(const Words& launch) {
  Diagnosis diagnosis;
  std::vector<Finding>& findings = diagnosis.findings;
  const LookAtHost look;
  std::error_code error;  // the directory may be gone: its finding says so
  fs::path place = fs::current_path(error);
  const auto add_program = [&](const Finding& program, MpiFamily family) {
    findings.push_back(program);
    findings.push_back(recorder_finding(family));
    diagnosis.mpi = info_of(family).words;
  };
  if (const std::optional<RankCommand> rank = rank_command(launch)) {
    const std::optional<MpiLibrary> library =
        rank->program.empty() ? std::nullopt : mpi_of_program(rank->program.front());
    const MpiFamily family = family_of_rank(library);
    add_program(program_finding_of_rank(rank->program, family), family);
    const std::string output = output_of_rank(rank->options);
    if (!output.empty()) place = fs::absolute(file_of_output(output), error).parent_path();
  } else if (!launch.empty()) {
    const Outcome<Launcher> launcher = launcher_of(launch);
    findings.push_back(launcher_finding(launch, launcher));
    if (launcher && is_started_by_exec(launch)) {
      Diagnosis in_ranks = diagnosis_in_ranks(launch, *launcher, (place / default_output).string());
      in_ranks.findings.insert(in_ranks.findings.begin(), findings.front());
      return in_ranks;
    }
    if (launcher) add_program(program_finding(launch, *launcher), launcher->family);
  }
  for (Finding& finding : build_findings()) findings.push_back(std::move(finding));
  findings.push_back(counter_finding());
  findings.push_back(clock_finding());
  findings.push_back(host_finding(look));
  findings.push_back(room_finding("live", "/dev/shm", "what halcyon watch reads",
                                  "The program is recorded all the same; halcyon watch cannot see it."));
  findings.push_back(room_finding("files", place, "the profile, and parts of long runs",
                                  "Name another place with halcyon run -o FILE."));
  if (std::optional<Finding> finding = ledger_finding()) findings.push_back(std::move(*finding));
  return diagnosis;
}

std::optional<Diagnosis> diagnosis_in(const std::string& text) {
  const std::size_t begin = std::min(text.find('{'), text.size());
  const std::size_t end = text.rfind('}');
  const std::string object = end == std::string::npos || end < begin ? "" : text.substr(begin, end + 1 - begin);
  const nlohmann::json said = nlohmann::json::parse(object, nullptr, /*allow_exceptions=*/false);
  const auto text_of = [](const nlohmann::json& in, const char* key) {
    const auto found = in.find(key);
    return found != in.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!said.is_object() || !said.contains("findings") || !said["findings"].is_array()) return std::nullopt;
  Diagnosis diagnosis{{}, text_of(said, "mpi")};
  for (const nlohmann::json& finding : said["findings"]) {
    if (!finding.is_object()) return std::nullopt;
    const auto state = std::find(finding_states.begin(), finding_states.end(), text_of(finding, "state"));
    if (state == finding_states.end()) return std::nullopt;
    diagnosis.findings.push_back({text_of(finding, "subject"), text_of(finding, "finding"),
                                  static_cast<State>(state - finding_states.begin()), text_of(finding, "remedy")});
  }
  return diagnosis;
}

}  // namespace halcyon::cli
