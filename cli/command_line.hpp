// The one definition of the command line. `halcyon` parses its arguments with it; help, man pages and completions are
// generated from it.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string_view>

#include "cli/console/command.hpp"

namespace halcyon::cli {

/// Parsing puts the action of the chosen subcommand into `chosen`.
std::unique_ptr<CLI::App> define_command_line(Action& chosen);

/// Whether the words after the first "--" of this subcommand are a program to start.
bool starts_a_program(std::string_view subcommand);
/// Whether the program may be left out.
bool may_lack_a_program(std::string_view subcommand);

}  // namespace halcyon::cli
