// Which MPI library the ranks use, and the preloaded libraries that fit it.
#pragma once

#include <optional>
#include <string>

#include "cli/launch/program.hpp"
#include "libprofile/interpose/mpi_names.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// An MPI library on disk.
struct MpiLibrary {
  std::string path;
  MpiFamily family = MpiFamily::open_mpi;
};

/// By its name and the symbols that it exports; nothing if the file is no library.
std::optional<MpiFamily> family_of_library(const std::string& path);
/// True for a program that is linked statically: it has no dynamic loader that would preload anything.
bool is_static(const std::string& program);
/// The library that a program is linked with, or that Python's mpi4py opens; nothing for a script, or without MPI.
std::optional<MpiLibrary> mpi_of_program(const std::string& program);
/// The same for the first program with a library among the words of a command.
std::optional<MpiLibrary> mpi_of_command(const Words& words);
/// The library in the installation of a launcher; nothing if the launcher has no directory of its own.
std::optional<MpiLibrary> mpi_beside(const std::string& launcher);
/// For a rank: this process, which is about to become the program.
MpiFamily family_of_rank(const std::string& program);

/// The recorder, followed by the injector if calls are to be delayed.
Outcome<std::string> preload_list(MpiFamily family, bool injects);
/// LD_PRELOAD of this process.
std::string outer_preload();
/// `ours:theirs`, or only ours.
std::string joined_preload(const std::string& ours, const std::string& theirs);

}  // namespace halcyon::cli
