// Ends a job that another command has started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace halcyon::cli {

/// The launcher from which the process descends, and the signal that makes it end its ranks in an orderly way. 0 if
/// none of its ancestors is a known launcher of this user.
struct RunningLauncher {
  pid_t process = 0;
  int signal = 0;
};
RunningLauncher launcher_above(pid_t process);

/// Signals the launcher of the ranks to end them. Ranks that still run after ten seconds, or that have no such
/// launcher, get SIGTERM themselves, and SIGKILL five seconds later. Returns whether all have ended.
bool end_job(const std::vector<pid_t>& ranks);

}  // namespace halcyon::cli
