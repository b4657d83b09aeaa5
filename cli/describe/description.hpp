// A description of a command, read from its CLI11 definition. Help, man pages and completions are made from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/console/command.hpp"

namespace halcyon::cli {

/// The value of an argument. Its placeholder lists alternatives: words to type literally (`auto`, `-`) or, in capitals,
/// placeholders (`FILE`, `N`).
struct DescribedValue {
  std::string placeholder;  ///< empty: a flag
  std::vector<std::string> words;
  bool is_file = false;
  bool is_directory = false;
};

struct DescribedArgument {
  std::vector<std::string> names;  ///< as typed, short ones first; a positional argument has its placeholder only
  DescribedValue value;
  std::string description;
  bool required = false;
  bool repeatable = false;
};

/// The text after the options: lines of prose, and verbatim lines, which begin with two spaces.
struct DescribedNotes {
  std::vector<std::string> prose;
  std::vector<std::string> exit_status;
  std::vector<std::string> examples;
};

struct DescribedCommand {
  std::string name;
  std::string description;
  std::vector<DescribedArgument> options;
  std::vector<DescribedArgument> positionals;
  DescribedNotes notes;
  FollowingProgram program = FollowingProgram::none;
  bool starts_a_program() const { return program != FollowingProgram::none; }
  std::vector<DescribedCommand> subcommands;
};

/// The command and its subcommands.
DescribedCommand describe(const CLI::App& command, const Commands& commands);

std::vector<std::string> alternatives(const std::string& placeholder);
/// The length of the part that is typed literally: all of `auto`, `papi:` of `papi:EVENT`, nothing of `FILE`.
std::size_t typed_length(const std::string& alternative);

/// The usage after the command's name. `typed` marks up literal words, `stands_for` placeholders.
using Spelling = std::function<std::string(const std::string&)>;
std::string usage(const DescribedCommand& command, const Spelling& typed, const Spelling& stands_for);

/// What `name --help` prints.
std::string help_text(const std::string& name, const DescribedCommand& command);

/// The files' contents.
std::string man_page(const DescribedCommand& program, const DescribedCommand& command, const std::string& date);
std::string bash_completion(const DescribedCommand& program);
std::string zsh_completion(const DescribedCommand& program);
std::string fish_completion(const DescribedCommand& program);

}  // namespace halcyon::cli
