// The launchers that Halcyon knows, and how each loads the recorder into its ranks.
#pragma once

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

/// Whether the launcher starts programs of this family.
bool starts(Launcher::Kind launcher, MpiFamily family);

/// Which launcher the command is, and which MPI library its ranks have. A failure says what to type instead.
Outcome<Launcher> launcher_of(const Words& launch);

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
