// The launchers that `halcyon run` knows, and how each is told what its ranks are to have in their environment.
#pragma once

#include <string>
#include <vector>

#include "cli/launch.hpp"
#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

struct Launcher {
  enum class Kind { open_mpi, hydra, srun } kind = Kind::open_mpi;
  MpiFamily family = MpiFamily::open_mpi;  // of the ranks
};

/// Whose command stands in front, and what MPI its ranks have. A failure if it cannot be launched by us.
Outcome<Launcher> launcher_of(const std::vector<std::string>& launch);

/// A command to start, with what of this process' environment is changed for it.
struct LaunchCommand {
  std::vector<std::string> words;
  Environment environment;
  bool without_preload = false;  // LD_PRELOAD is taken out
  bool kills_on_term = false;    // at SIGTERM it kills its ranks at once; SIGINT it passes on to them
};

/// The launch command with the preload list and the variables in its ranks, and only there.
LaunchCommand with_recorder(const Launcher& launcher, const std::vector<std::string>& launch,
                            const std::string& preload, const Environment& environment);

/// The same in words for a shell.
std::vector<std::string> spelt_out(const LaunchCommand& command);

/// As one would type it in a shell.
std::string quoted(const std::vector<std::string>& words);

}  // namespace halcyon::cli
