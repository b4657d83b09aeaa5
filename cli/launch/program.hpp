// Commands: finding and executing the program, splitting a command into words, and quoting it for a shell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

using Words = std::vector<std::string>;

/// The file of a command, as a shell would find it.
std::optional<std::string> found_program(const std::string& command);
/// If the program has other rights than its user (set-user-id, set-group-id, capabilities): the loader then ignores
/// LD_PRELOAD.
bool gains_rights(const std::string& program);
/// Replaces this process by the program; returns only on failure.
Failure execute(const Words& command);
/// The words between blanks.
Words split_at_blanks(const std::string& line);
/// The words of a command that is typed as in a shell, with quotes and backslashes, in one line or several. A failure
/// if a shell would do more with it than split it: insert a value, redirect output, or run a second command.
Outcome<Words> words_of_command(const std::string& text);
/// The words of each line of a file that lists programs, without comments and empty lines.
std::vector<Words> lines_of(const std::string& file);
/// The command as it is typed in a shell.
std::string quoted(const Words& words);
/// The same in one line, for a message that says what to type.
std::string as_typed(const Words& words);
/// Only the beginning of a long command, for a message that names it.
std::string in_short(const Words& words);

}  // namespace halcyon::cli
