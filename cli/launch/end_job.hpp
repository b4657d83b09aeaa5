// Ends a job that another command has started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace halcyon::cli {

/// The launcher that the process descends from, and the signal at which it ends its ranks in order. 0 if none of its
/// ancestors is a known launcher of this user.
struct RunningLauncher {
  pid_t process = 0;
  int signal = 0;
};
RunningLauncher launcher_above(pid_t process);

/// Asks the launcher of the ranks to end them. Ranks that still run after ten seconds, or that have no launcher which
/// can be asked, get SIGTERM themselves, and five seconds later SIGKILL. Returns whether all have ended.
bool end_job(const std::vector<pid_t>& ranks);

}  // namespace halcyon::cli
