// What the arguments of `halcyon` ask for.
#pragma once

namespace halcyon::cli {

/// Parses the arguments and does what they say. Prints errors of usage in one line; returns the exit status.
int run_command_line(int argc, char** argv);

}  // namespace halcyon::cli
