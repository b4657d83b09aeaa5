#include "cli/launch/launchers.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/console/output.hpp"
#include "cli/launch/hydra.hpp"
#include "cli/launch/open_mpi.hpp"
#include "cli/launch/programs.hpp"
#include "cli/launch/srun.hpp"
#include "cli/console/suggestion.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array launcher_names{"mpirun",          "mpiexec",      "orterun",       "mpirun.openmpi",
                                    "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra"};

bool is_in_list(const std::string& name, std::string_view list) {
  return (" " + std::string(list) + " ").find(" " + name + " ") != std::string::npos;
}

constexpr std::string_view shells = "sh bash dash ksh zsh fish csh tcsh";

// A script of a shell that has a launcher's name in it; others may be meant to be launched.
bool is_script_with_launcher(const std::string& file) {
  std::ifstream script(file);
  std::string word;
  if (script.get() != '#' || script.get() != '!' || !(script >> word)) return false;
  if (fs::path(word).filename() == "env") script >> word;
  if (!is_in_list(fs::path(word).filename(), shells)) return false;
  while (script >> word) {
    if (is_in_list(fs::path(word).filename(), "srun mpirun mpiexec")) return true;
  }
  return false;
}

// What was most probably meant by a command that begins with no launcher we know.
std::string advice_without_launcher(const Words& launch) {
  const std::string& command = launch.front();
  const std::string name = fs::path(command).filename();
  const auto is_one_of = [&name](std::string_view list) { return is_in_list(name, list); };
  const std::string is_none = "'" + command + "' is neither srun nor the mpirun of Open MPI, MPICH or Intel MPI";
  if (command.starts_with("-")) {
    return "there is no launcher after '--'. Did you mean: halcyon run -- mpirun " + in_short(launch);
  }
  const std::optional<std::string> program = found_program(command);
  const bool starts_others =
      is_one_of(shells) || is_one_of("env nohup time sbatch salloc") || (program && is_script_with_launcher(*program));
  const std::size_t place = place_of_launcher(launch);
  if (place > 0 && place < launch.size() && (starts_others || program)) {
    return is_none + ". Did you mean: " + with_launcher_behind_dashes("run", launch);
  }
  if (starts_others) {
    return is_none + ". Put 'halcyon run --' before the mpirun or srun that it starts: " + name +
           " … halcyon run -- mpirun -np N ./app";
  }
  const std::string by_exec = command + " … halcyon exec -- ./app";
  std::error_code error;
  const std::string is_absent = fs::is_directory(command, error) ? "'" + command + "' is a directory"
                                : fs::exists(command, error)     ? "'" + command + "' is not executable: chmod +x"
                                                                 : "there is no program '" + command + "'";
  if (is_one_of("srun mpirun mpiexec orterun") && !program) return is_absent;
  if (is_one_of("aprun jsrun lrun ibrun flux prun prterun yod mpirun mpiexec orterun")) {
    return is_none + "; under another launcher: " + by_exec;
  }
  if (!program) return is_absent + did_you_mean(name, {launcher_names.begin(), launcher_names.end()});
  const bool is_link_to_launcher = place_of_launcher({fs::canonical(*program, error).string()}) == 0;
  if (!is_link_to_launcher && kind_of_program(*program) == ProgramKind::plain &&
      linked_libraries(*program).mpi.empty()) {
    return "'" + command +
           "' is linked with no MPI library, so there is nothing to record. Put a launcher and a program with MPI "
           "behind '--': "
           "halcyon run -- mpirun -np N ./app  (if it is a launcher: " +
           by_exec + ")";
  }
  return is_none + ". Did you mean: halcyon run -- mpirun -np N " + in_short(launch) +
         "  (if it is a launcher: " + by_exec + ")";
}

// The library of the first program that shows one.
std::optional<MpiLibrary> mpi_of_programs(const Words& launch) {
  for (const LaunchedProgram& program : programs_of(launch)) {
    for (const std::string& word : program.words) {
      if (std::optional<MpiLibrary> library = mpi_of_program(word, program.library_path)) return library;
    }
  }
  return std::nullopt;
}

// The runtime that all programs of the job need. It must not get into others, nor into wrappers that start the program.
std::string sanitizer_of_programs(const Words& launch) {
  std::string of_all;
  for (const LaunchedProgram& program : programs_of(launch)) {
    const Words files = started_by(program.words).files;
    const std::string sanitizer = files.empty() ? "" : sanitizer_of_program(files.front());
    if (sanitizer.empty() || (!of_all.empty() && sanitizer != of_all)) return "";
    of_all = sanitizer;
  }
  return of_all;
}

// A launcher alone knows its version, but Hydra also starts programs that are linked with the standard ABI.
MpiFamily family_under_mpirun(const std::optional<MpiLibrary>& of_program, const std::string& launcher,
                              MpiFamily usual) {
  const std::optional<MpiLibrary> library = of_program ? of_program : mpi_beside(launcher);
  return library ? library->family : usual;
}

}  // namespace

std::size_t place_of_launcher(const Words& words) {
  const auto found = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    const std::string name = fs::path(word).filename();
    return name == "srun" || std::find(launcher_names.begin(), launcher_names.end(), name) != launcher_names.end();
  });
  return static_cast<std::size_t>(found - words.begin());
}

std::string with_launcher_behind_dashes(const std::string& subcommand, const Words& words) {
  const auto launcher = words.begin() + static_cast<std::ptrdiff_t>(place_of_launcher(words));
  if (launcher == words.end()) return {};
  const auto wrapper = std::find_if(words.begin(), launcher, [](const std::string& word) {
    return !word.starts_with("-") && found_program(word).has_value();
  });
  Words all(wrapper, launcher);
  all.insert(all.end(), {"halcyon", subcommand});
  std::copy_if(words.begin(), wrapper, std::back_inserter(all), [](const std::string& word) { return word != "--"; });
  all.emplace_back("--");
  all.insert(all.end(), launcher, words.end());
  return in_short(all);
}

bool starts(Launcher::Kind launcher, MpiFamily family) {
  const bool is_of_open_mpi = family == MpiFamily::open_mpi || family == MpiFamily::open_mpi_5;
  switch (launcher) {
    case Launcher::Kind::open_mpi: return is_of_open_mpi;
    case Launcher::Kind::hydra: return !is_of_open_mpi;
    case Launcher::Kind::srun: break;
  }
  return true;
}

Outcome<Launcher> launcher_of(const Words& launch) {
  const std::string& command = launch.front();
  if (is_srun(launch) && found_program(command)) {
    std::optional<MpiLibrary> library = mpi_of_programs(launch);
    const MpiFamily family = library ? library->family : family_of_srun(launch);
    return Launcher{Launcher::Kind::srun, family, std::move(library), {}, sanitizer_of_programs(launch)};
  }
  if (place_of_launcher(launch) == 0 && found_program(command)) {
    const std::string version = output_of({command, "--version"});
    if (version.empty()) return Failure{"'" + command + " --version' prints nothing"};
    std::optional<MpiLibrary> library = mpi_of_programs(launch);
    const auto says = [&version](const char* word) { return version.find(word) != std::string::npos; };
    if (says("Open MPI") || says("OpenRTE")) {
      const MpiFamily family = family_under_mpirun(library, command, MpiFamily::open_mpi);
      return Launcher{Launcher::Kind::open_mpi, family, std::move(library), version, sanitizer_of_programs(launch)};
    }
    if (says("HYDRA") || says("Intel(R) MPI")) {
      const MpiFamily family = family_under_mpirun(library, command, MpiFamily::mpich);
      return Launcher{Launcher::Kind::hydra, family, std::move(library), version, sanitizer_of_programs(launch)};
    }
  }
  return Failure{advice_without_launcher(launch)};
}

Outcome<Launcher> launcher_to_start(const Words& launch) {
  Outcome<Launcher> launcher = launcher_of(launch);
  if (!launcher) return launcher;
  for (const LaunchedProgram& program : programs_of(launch)) {
    const Words files = started_by(program.words).files;
    const std::string obstacle = files.empty() ? "" : why_not_into(files.front());
    if (!obstacle.empty()) return Failure{obstacle + ": start it without halcyon"};
  }
  if (launcher->library && !starts(launcher->kind, launcher->library->family)) {
    tell("the program uses " + launcher->library->path + is_not_its_mpi + ". " + start_by_its_own);
  }
  return launcher;
}

LaunchCommand with_recorder(const Launcher& launcher, const Words& launch, const std::string& recorder,
                            const Environment& environment) {
  const std::string preload = joined_preload(recorder, launcher.sanitizer);
  switch (launcher.kind) {
    case Launcher::Kind::hydra: return {.job = {.words = with_global_environment(launch, preload, environment)}};
    case Launcher::Kind::srun:
      return {.job = {.words = with_export_lists(launch, preload, environment),
                      .environment = environment,
                      .without_preload = true},
              .kills_on_term = true};
    case Launcher::Kind::open_mpi: break;
  }
  return {.job = {.words = with_exports(launch, preload, environment), .environment = environment}};
}

Words spelt_out(const JobRequest& job) {
  Words words{"env"};
  if (job.without_preload) words.insert(words.end(), {"-u", "LD_PRELOAD"});
  for (const auto& [name, value] : job.environment) words.push_back(name + "=" + value);
  if (words.size() == 1) words.clear();
  words.insert(words.end(), job.words.begin(), job.words.end());
  return words;
}

}  // namespace halcyon::cli
