#include "cli/launch/rank_side.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "cli/launch/job.hpp"
#include "cli/launch/program_finding.hpp"
#include "cli/launch/programs.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

// The place of `halcyon` in front of `exec`; that of the end without it.
std::size_t place_of_exec(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (fs::path(words[i]).filename() == "halcyon" && words[i + 1] == "exec") return i;
  }
  return words.size();
}

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

Diagnosis diagnosis_of_one(const LaunchedProgram& program, const Launcher& launcher, const std::string& output) {
  const auto exec = program.words.begin() + static_cast<std::ptrdiff_t>(place_of_exec(program.words));
  Words words(program.words.begin() + static_cast<std::ptrdiff_t>(started_by(program.words).at), exec);
  words.insert(words.end(), {*exec, "doctor", "--json", "-", "--"});
  words.insert(words.end(), exec, program.words.end());
  Environment environment{{"HALCYON_OUTPUT", output}};
  if (!program.library_path.empty()) environment.emplace_back("LD_LIBRARY_PATH", program.library_path);
  const std::string said = output_of(words, environment);
  std::optional<Diagnosis> found = diagnosis_in(said);
  if (!found) {
    return {{{"program", "halcyon exec does not start in the ranks: " + last_line(said), Finding::State::problem,
              "Bind the whole directory of Halcyon into the container. The portable release needs nothing else there "
              "but glibc 2.17."}},
            {}};
  }
  const auto of_recorder = std::find_if(mpi_families.begin(), mpi_families.end(),
                                        [&found](const MpiFamilyInfo& info) { return info.words == found->mpi; });
  if (of_recorder != mpi_families.end() && !starts(launcher.kind, of_recorder->family)) {
    for (Finding& finding : found->findings) {
      if (finding.subject != "program" || finding.state == Finding::State::problem) continue;
      finding = {"program", finding.text + is_not_its_mpi, Finding::State::problem, start_by_its_own};
    }
  }
  return *found;
}

}  // namespace

std::optional<RankCommand> rank_command(const Words& words) {
  if (words.empty() || place_of_exec(words) != 0) return std::nullopt;
  const auto options = words.begin() + 2;
  const auto dashes = std::find(options, words.end(), "--");
  return RankCommand{{options, dashes}, {dashes != words.end() ? dashes + 1 : dashes, words.end()}};
}

bool is_started_by_exec(const Words& launch) {
  const std::vector<LaunchedProgram> programs = programs_of(launch);
  return !programs.empty() && std::all_of(programs.begin(), programs.end(), [](const LaunchedProgram& program) {
    return place_of_exec(program.words) != program.words.size();
  });
}

Diagnosis diagnosis_in_ranks(const Words& launch, const Launcher& launcher, const std::string& output) {
  std::optional<Diagnosis> first;
  for (const LaunchedProgram& program : programs_of(launch)) {
    Diagnosis found = diagnosis_of_one(program, launcher, output);
    if (!found.records()) return found;
    if (!first) first = std::move(found);
  }
  return first.value_or(Diagnosis{});
}

bool starts_containers(const std::string& program) {
  constexpr std::array<std::string_view, 10> names{"apptainer", "singularity", "podman", "docker", "sarus",
                                                   "shifter",   "ch-run",      "enroot", "bwrap",  "chroot"};
  return std::find(names.begin(), names.end(), fs::path(program).filename().string()) != names.end();
}

std::string obstacle_in_ranks(const Words& launch, const Launcher& launcher, const std::string& output) {
  if (is_started_by_exec(launch)) {
    const Diagnosis found = diagnosis_in_ranks(launch, launcher, output);
    const Finding* const problem = found.problem();
    return problem != nullptr ? problem->text + ". " + problem->remedy : "";
  }
  for (const LaunchedProgram& program : programs_of(launch)) {
    const Words files = started_by(program.words).files;
    if (files.empty() || !starts_containers(files.front())) continue;
    const Finding finding = program_finding(launch, launcher);
    return finding.text + ". " + finding.remedy;
  }
  return {};
}

}  // namespace halcyon::cli
