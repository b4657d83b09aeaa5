// The programs that a launch command starts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/launch/program.hpp"

namespace halcyon::cli {

/// One program of a job.
struct LaunchedProgram {
  Words words;               // its options of the launcher, the program and its arguments
  std::string library_path;  // LD_LIBRARY_PATH that the launcher sets for it; empty: ours
};

/// In the order of the command: between colons, or the lines of a file that lists them.
std::vector<LaunchedProgram> programs_of(const Words& launch);

/// That file; nothing if the command names none.
std::optional<std::string> file_of_programs(const Words& launch);
/// The place in the command of the option of mpirun that names it. The same word behind a program is the program's own
/// option.
std::optional<std::size_t> option_of_program_file(const Words& launch);

/// Whether a word before the program may be the value of an option of the launcher.
enum class OptionValue { no, perhaps, surely };
OptionValue option_value(const Words& words, std::size_t at);

/// The file that the launcher starts and the files behind it that can be executed: it may start one of them. Or, where
/// the word in the place of the program is no such file, that word.
struct Started {
  Words files;
  std::size_t at = 0;  // the place of the first of them
  std::string missing;
};
/// `words`: those of a LaunchedProgram.
Started started_by(const Words& words);

/// Whether the word names a file, and not a command that is searched in PATH.
bool is_path(const std::string& word);

}  // namespace halcyon::cli
