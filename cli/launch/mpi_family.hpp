// Which MPI library the ranks use, and the preloaded libraries that fit it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/launch/program.hpp"
#include "libprofile/interpose/mpi_names.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// An MPI library on disk.
struct MpiLibrary {
  std::string path;
  MpiFamily family = MpiFamily::open_mpi;
  std::string libc = {};  // the path of glibc that is loaded with it; empty if that is not known
};

/// By its name and the symbols that it exports; nothing if the file is no library.
std::optional<MpiFamily> family_of_library(const std::string& path);

/// What the dynamic loader finds for a program.
struct LinkedLibraries {
  std::vector<MpiLibrary> mpi;
  std::vector<std::string> missing;  // names of libraries that it does not find
};
/// For Python, what mpi4py opens. Nothing for a script. `library_path`: LD_LIBRARY_PATH of the ranks; empty: ours.
LinkedLibraries linked_libraries(const std::string& program, const std::string& library_path = "");
/// The first MPI library of a program; nothing for a script, or without MPI.
std::optional<MpiLibrary> mpi_of_program(const std::string& program, const std::string& library_path = "");

/// What a program is, apart from its libraries.
enum class ProgramKind {
  plain,           // it loads and starts nothing: without an MPI library, it will have none
  opener,          // it may load a library or start a program, as env, numactl and interpreters do
  python,          // MPI comes with mpi4py
  script,          // not compiled: what it starts is not known
  without_loader,  // linked statically: nothing would preload a library into it
  other_loader,    // of musl or another libc: it would end if a library for glibc were preloaded into it
};
ProgramKind kind_of_program(const std::string& program);
/// Why a program would end if the recorder were preloaded into it; empty if it would not.
std::string why_not_into(const std::string& program);
/// The library in the installation of a launcher; nothing if the launcher has no directory of its own.
std::optional<MpiLibrary> mpi_beside(const std::string& launcher);
/// For a rank: this process, which is about to become the program with this library, or with one that is not seen.
MpiFamily family_of_rank(const std::optional<MpiLibrary>& library);

/// The runtime library of a sanitizer that the program is linked with; empty without one. That of AddressSanitizer ends
/// a program in which another library comes before it.
std::string sanitizer_of_program(const std::string& program);

/// The recorder, followed by the injector if calls are to be delayed.
Outcome<std::string> preload_list(MpiFamily family, bool injects);
/// The same for ranks with this library. A failure if they cannot be loaded beside its libc.
Outcome<std::string> fitting_preload_list(MpiFamily family, bool injects, const std::optional<MpiLibrary>& library);
/// Why these libraries cannot be loaded beside this libc: a version of glibc that one of them needs and it lacks. The
/// loader would end the program. Empty if they can, or if it is not known.
std::string why_not_beside(const std::string& libraries, const std::string& libc);
/// LD_PRELOAD of this process.
std::string outer_preload();
/// `ours:theirs`; but runtimes of sanitizers in `theirs` come first, and a recorder there, such as an environment
/// module of another version preloads, gives way to ours.
std::string joined_preload(const std::string& ours, const std::string& theirs);

}  // namespace halcyon::cli
