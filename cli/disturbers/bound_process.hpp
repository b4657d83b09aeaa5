// A child process that never outlives this process, and that reports when it is ready.
#pragma once

#include <sys/types.h>

#include <functional>

#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// Forks. The child runs `prepare`, then `go_on` unless `prepare` failed, then ends. It is killed when this process
/// ends for any reason; the terminal's signals do not reach it. Returns when `prepare` has ended, with its failure or
/// the child's process id.
Outcome<pid_t> start_bound(const std::function<Status()>& prepare, const std::function<void()>& go_on);

/// Kills the child, if the id is one, and waits for its end.
void end_bound(pid_t child);

}  // namespace halcyon::cli
