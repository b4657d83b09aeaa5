// Shows the state of this command's run on standard error: at the bottom of a terminal, with the program's output above
// it, and as a line every ten seconds elsewhere.
#pragma once

#include <stop_token>

namespace halcyon::cli {

/// Shows it until it is asked to stop.
void show_view_beside(const std::stop_token& stop);

}  // namespace halcyon::cli
