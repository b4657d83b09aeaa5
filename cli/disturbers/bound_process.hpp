// A child that never outlives this process, and tells when it is ready.
#pragma once

#include <sys/types.h>

#include <functional>

#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

/// Forks. The child is killed when this process ends, however it ends, and no signal of the terminal reaches it. There
/// `prepare` runs, then, unless it failed, `go_on`, then it ends. Comes back when `prepare` has ended, with its failure
/// or with the child's number.
Outcome<pid_t> start_bound(const std::function<Status()>& prepare, const std::function<void()>& go_on);

/// Kills it, if it is one, and waits for its end.
void end_bound(pid_t child);

}  // namespace halcyon::cli
