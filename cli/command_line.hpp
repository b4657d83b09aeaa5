// The one definition of the command line: `halcyon` parses by it, and help, man pages and completions are
// written from it.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string_view>

#include "cli/command.hpp"

namespace halcyon::cli {

/// The subcommand that is chosen in parsing leaves its action in `chosen`.
std::unique_ptr<CLI::App> define_command_line(Action& chosen);

/// Whether what stands behind the first "--" of this subcommand is a program to start.
bool starts_a_program(std::string_view subcommand);
/// Whether it does something without one, too.
bool may_lack_a_program(std::string_view subcommand);

}  // namespace halcyon::cli
