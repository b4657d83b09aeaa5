#include "cli/launch/program_finding.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/launch/programs.hpp"

namespace halcyon::cli {
namespace {

using State = Finding::State;

Finding problem(const std::string& text, const std::string& remedy) {
  return {"program", text, State::problem, remedy};
}

// The file that the launcher starts and the files behind it that can be executed: it may start one of them. Or, where
// the word in the place of the program is no such file, that word.
struct Started {
  Words files;
  std::string missing;
};
Started started_by(const Words& words) {
  Started started;
  std::optional<std::string> named_like_a_command;  // the value of an option, or the program behind one without a value
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_first = started.files.empty();
    const OptionValue value = is_first ? option_value(words, i) : OptionValue::no;
    if (word.starts_with("-") || value == OptionValue::surely) continue;
    const std::optional<std::string> file = found_program(word);
    if (file && is_first && value == OptionValue::perhaps && !is_path(word)) {
      if (!named_like_a_command) named_like_a_command = file;
    } else if (file) {
      started.files.push_back(*file);
    } else if (is_first && value == OptionValue::no && is_path(word)) {
      started.missing = word;
      return started;
    }
  }
  if (started.files.empty() && named_like_a_command) started.files.push_back(*named_like_a_command);
  return started;
}

Finding finding_of_library(const std::string& program, const std::vector<MpiLibrary>& libraries,
                           const Launcher& launcher) {
  const MpiLibrary& first = libraries.front();
  const MpiInterface interface = interface_of(first.family);
  const auto other = std::find_if(libraries.begin(), libraries.end(), [interface](const MpiLibrary& library) {
    return interface_of(library.family) != interface;
  });
  const std::string uses = program + " uses " + first.path;
  if (other != libraries.end()) {
    return problem(uses + " and " + other->path, "Link it with one MPI: nothing is recorded beside two.");
  }
  if (!starts(launcher.kind, first.family)) {
    return problem(uses + ", which is not the launcher's MPI",
                   "Start it with the mpirun of its own MPI: its ranks would not find each other.");
  }
  const long number = number_of_soname(first.path);
  if (number >= 0 && number != known_number(interface)) {
    return problem(uses + ", whose handles Halcyon does not know",
                   "Use Open MPI from version 3, MPICH from 3.1, or another MPI with the interface of one of them.");
  }
  if (interface != interface_of(launcher.family)) {
    return problem(uses + ", and the recorder for the first program of the job does not fit it",
                   "Link all programs of the job with the same MPI.");
  }
  return {"program", uses};
}

Finding finding_of(const LaunchedProgram& launched, const Launcher& launcher) {
  const Started started = started_by(launched.words);
  if (!started.missing.empty()) {
    const bool is_there = std::filesystem::exists(started.missing);
    return problem(started.missing + (is_there ? " cannot be executed" : " does not exist"),
                   is_there ? "Make it executable: chmod +x." : "Check its spelling and the current directory.");
  }
  if (started.files.empty()) {
    return problem("no word of the command is a program", "Check its spelling, and that it is executable and in PATH.");
  }
  const std::string& program = started.files.front();
  for (const std::string& file : started.files) {
    const LinkedLibraries linked = linked_libraries(file, launched.library_path);
    if (!linked.missing.empty()) {
      return problem(file + " needs " + linked.missing.front() + ", which the loader does not find",
                     "Load the module that it was built with, or set LD_LIBRARY_PATH.");
    }
    if (!linked.mpi.empty()) return finding_of_library(file, linked.mpi, launcher);
    if (kind_of_program(file) == ProgramKind::without_loader) {
      return problem(file + " is linked statically, so that nothing can be preloaded into it",
                     "Link it dynamically with the MPI library.");
    }
  }
  switch (kind_of_program(program)) {
    case ProgramKind::plain:
      return problem(program + " is linked with no MPI library, and it opens none",
                     "Put the MPI program behind the launcher and its options.");
    case ProgramKind::python: return problem(program + " cannot import mpi4py", "Install mpi4py for this interpreter.");
    default: break;
  }
  return {"program", program + " is linked with no MPI library", State::note,
          "For a script or a wrapper this is usual. A program without MPI has nothing to record."};
}

}  // namespace

Finding program_finding(const Words& launch, const Launcher& launcher) {
  const std::vector<LaunchedProgram> programs = programs_of(launch);
  if (programs.empty()) {
    return problem("there are no programs in " + file_of_programs(launch).value_or("the command"),
                   "Check the name of the file, and that it has a program in each line.");
  }
  std::optional<Finding> first;
  for (const LaunchedProgram& program : programs) {
    Finding finding = finding_of(program, launcher);
    if (finding.state == State::problem) return finding;
    if (!first) first = std::move(finding);
  }
  return *first;
}

}  // namespace halcyon::cli
