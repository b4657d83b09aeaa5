// The one definition of the command line. `halcyon` parses its arguments with it; help, man pages and completions are
// generated from it.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>

#include "cli/console/command.hpp"

namespace halcyon::cli {

/// Parsing puts the action of the chosen subcommand into `commands`, which must outlive the command line.
std::unique_ptr<CLI::App> define_command_line(Commands& commands);

}  // namespace halcyon::cli
