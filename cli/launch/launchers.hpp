// The launchers that Halcyon knows, and how each loads the recorder into its ranks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/launch/job.hpp"
#include "cli/launch/mpi_family.hpp"
#include "cli/launch/program.hpp"
#include "cli/launch/rank_environment.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

struct Launcher {
  enum class Kind { open_mpi, hydra, srun } kind = Kind::open_mpi;
  MpiFamily family = MpiFamily::open_mpi;  // of the ranks
  std::optional<MpiLibrary> library;       // of the first program of the command that shows it
  std::string version;                     // according to the launcher; empty for srun
  std::string sanitizer;                   // its runtime library, which comes before the recorder; empty: none
};

/// The place of the first word that is the name of a launcher; that of the end if there is none.
std::size_t place_of_launcher(const Words& words);
/// The command of Halcyon that was most probably meant: the launcher behind '--', the options in front of that, and a
/// program that starts the launcher in front of all. Empty without a launcher.
std::string with_launcher_behind_dashes(const std::string& subcommand, const Words& words);

/// Whether the launcher starts programs of this family.
bool starts(Launcher::Kind launcher, MpiFamily family);
/// What is wrong where it does not, behind the name of the program's library, and what to do.
inline constexpr const char* is_not_its_mpi = ", which is not the launcher's MPI";
inline constexpr const char* start_by_its_own =
    "Start it with the mpirun of its own MPI: its ranks would not find each other.";

/// Which launcher the command is, and which MPI library its ranks have. A failure says what to type instead.
Outcome<Launcher> launcher_of(const Words& launch);
/// The same for a command that starts now: tells if the launcher does not start programs of their MPI.
Outcome<Launcher> launcher_to_start(const Words& launch);

/// The command to start, and how to end it.
struct LaunchCommand {
  JobRequest job;
  bool kills_on_term = false;  // SIGTERM kills its ranks at once, and SIGINT reaches them
};

/// The launch command, with the preload list of the recorder and the variables set only in its ranks.
LaunchCommand with_recorder(const Launcher& launcher, const Words& launch, const std::string& recorder,
                            const Environment& environment);

/// The same in words for a shell.
Words spelt_out(const JobRequest& job);

}  // namespace halcyon::cli
