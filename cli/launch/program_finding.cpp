#include "cli/launch/program_finding.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/launch/programs.hpp"
#include "cli/launch/rank_side.hpp"

namespace halcyon::cli {
namespace {

using State = Finding::State;

Finding problem(const std::string& text, const std::string& remedy) {
  return {"program", text, State::problem, remedy};
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
    return problem(uses + is_not_its_mpi, start_by_its_own);
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
  const Outcome<std::string> recorder = preload_list(launcher.family, false);
  const std::string obstacle = recorder ? why_not_beside(*recorder, first.libc) : "";
  if (!obstacle.empty()) return problem(obstacle, "Install the portable release, which needs glibc 2.17.");
  const std::string first_of_all = launcher.sanitizer.empty() ? "" : "; " + launcher.sanitizer + " is preloaded first";
  return {"program", uses + first_of_all};
}

bool names(const Words& words, const std::string& library) {
  return outer_preload().find(library) != std::string::npos ||
         std::any_of(words.begin(), words.end(),
                     [&library](const std::string& word) { return word.find(library) != std::string::npos; });
}

// It must come first, and `run` puts it first only where it gets into nothing else.
Finding finding_of_late_runtime(const std::string& program, const std::string& sanitizer) {
  return problem(program + " ends if " + sanitizer + " does not come before the recorder",
                 "Start it without a wrapper and without other programs in the job, or pass LD_PRELOAD=" + sanitizer +
                     " to it by an option of the launcher: the recorder then comes behind it.");
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
  if (starts_containers(program)) {
    return {"program",
            program + " starts programs in a container: whether the recorder fits there is not seen from here",
            State::note,
            "Bind Halcyon's directory into the container, and put 'halcyon exec --' before the program in it: halcyon "
            "doctor then looks there."};
  }
  for (const std::string& file : started.files) {
    if (gains_rights(file)) {
      return problem(
          file +
              " runs with other rights than its user's (set-user-id, set-group-id, or capabilities), so that "
              "nothing can be preloaded into it",
          "Start a copy of it that has none of these.");
    }
    const LinkedLibraries linked = linked_libraries(file, launched.library_path);
    if (!linked.missing.empty()) {
      return problem(file + " needs " + linked.missing.front() + ", which the loader does not find",
                     "Load the module that it was built with, or set LD_LIBRARY_PATH.");
    }
    if (!linked.mpi.empty()) {
      const std::string sanitizer = sanitizer_of_program(file);
      const bool is_last = sanitizer.find("asan") != std::string::npos && launcher.sanitizer != sanitizer;
      if (is_last && !names(launched.words, sanitizer)) return finding_of_late_runtime(file, sanitizer);
      return finding_of_library(file, linked.mpi, launcher);
    }
    if (const std::string why = why_not_into(file); !why.empty()) {
      return problem(why, "Build it with glibc, and an MPI that was built with it.");
    }
    if (kind_of_program(file) == ProgramKind::without_loader) {
      return problem(file + " is linked statically, so that nothing can be preloaded into it",
                     "Link it dynamically with the MPI library.");
    }
  }
  switch (kind_of_program(program)) {
    case ProgramKind::plain:
      return problem(program + " is linked with no MPI library, and is not seen to open one",
                     "Put the MPI program behind the launcher and its options.");
    case ProgramKind::python:
      return {"program", program + " cannot import mpi4py", State::note,
              "If the program uses mpi4py, install it for this interpreter. What opens MPI with ctypes or cffi needs "
              "none."};
    default: break;
  }
  return {
      "program", program + " is linked with no MPI library", State::note,
      "For a script or a wrapper this is usual, and for a program that opens MPI itself. One without MPI has nothing "
      "to record."};
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

Finding program_finding_of_rank(const Words& program, MpiFamily family) {
  // srun starts programs of all MPI libraries: which launcher starts this one is not known here.
  return finding_of({program, ""}, {.kind = Launcher::Kind::srun,
                                    .family = family,
                                    .library = std::nullopt,
                                    .version = {},
                                    .sanitizer = program.empty() ? "" : sanitizer_of_program(program.front())});
}

}  // namespace halcyon::cli
