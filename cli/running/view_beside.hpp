// Shows the state of this command's run on standard error.
#pragma once

#include <stop_token>

namespace halcyon::cli {

/// Until it is asked to stop: at the bottom of a terminal, with the program's output above it, and as a line every ten
/// seconds elsewhere.
void show_view_beside(const std::stop_token& stop);
/// The same in one line at the bottom of a terminal, while this command is in its foreground; nothing elsewhere.
void show_line_beside(const std::stop_token& stop);

}  // namespace halcyon::cli
