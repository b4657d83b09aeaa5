// What is known of the run that this command makes, on standard error while it runs: one line that is kept up to date
// on a terminal, and a line every ten seconds elsewhere.
#pragma once

#include <stop_token>

namespace halcyon::cli {

/// Shows it until it is asked to stop.
void show_watch_line(const std::stop_token& stop);

}  // namespace halcyon::cli
