// One launch command with the recorder in its ranks, from start to end: what `run` and `validate` have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/launcher.hpp"
#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

struct LaunchRequest {
  std::vector<std::string> prefix;   // words before the command, as `nsenter` has them; mostly none
  std::vector<std::string> command;  // mpirun and all behind it
  Launcher launcher;
  RankOptions options;         // with an absolute output
  std::string injection_seed;  // where options.inject is given
  std::string log;             // file for what the program prints, which then reads nothing either; empty: as ours
};

struct LaunchEnd {
  int status = 0;                      // of the launch command; 128 + signal where that ended it
  int signal = 0;                      // that asked this process to end meanwhile, or 0; the launch command got it too
  std::optional<std::string> profile;  // that rank 0 wrote
};

inline constexpr const char* no_profile_written =
    "no profile was written: the program did not reach MPI_Finalize on all ranks, or is no MPI program";

/// Runs to the end, and passes on signals meanwhile. A failure is one of ours, before anything was started.
Outcome<LaunchEnd> launch_recorded(const LaunchRequest& request);

/// The command as it is, with nothing recorded.
Outcome<LaunchEnd> run_to_end(const std::vector<std::string>& command);

/// The same command for a shell, less what tells this process and no other which profile was written.
Outcome<std::string> command_line(const LaunchRequest& request);

}  // namespace halcyon::cli
