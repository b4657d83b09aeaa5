// Every code that a command prints or ends with: `halcyon help CODE` explains each.
#pragma once

#include <string>
#include <vector>

namespace halcyon::cli {

/// Without repetitions. They come from the tables and enumerations themselves: a new one must be named here, and
/// tests/unit/cli/codes.cpp then fails until docs/troubleshooting.md explains its codes.
std::vector<std::string> printed_codes();

}  // namespace halcyon::cli
