// Options of several subcommands, each with a single description.
#pragma once

#include <string>

#include "cli/console/command.hpp"

namespace halcyon::cli {

/// --json FILE|-
void add_json_option(const Command& command, std::string& where);
/// --method NAME
void add_method_option(const Command& command, std::string& method);
/// --quote text|markdown|latex
void add_quote_option(const Command& command, std::string& form);
/// --html FILE
void add_html_option(const Command& command, std::string& file);
/// --no-baseline
void add_no_baseline_flag(const Command& command, bool& no_baseline);

}  // namespace halcyon::cli
