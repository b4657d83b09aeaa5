// What help, man pages and completions say of a command, read out of its definition.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace halcyon::cli {

/// An argument's value. Its placeholder lists alternatives: words to type as they are (`auto`, `-`) or, in capitals,
/// what stands there (`FILE`, `N`).
struct DescribedValue {
  std::string placeholder;  ///< empty: a flag
  std::vector<std::string> words;
  bool is_file = false;
  bool is_directory = false;
};

struct DescribedArgument {
  std::vector<std::string> names;  ///< as typed, short ones first; of a positional argument its placeholder alone
  DescribedValue value;
  std::string description;
  bool required = false;
  bool repeatable = false;
};

/// The text behind the options: lines of prose, and verbatim ones that begin with two spaces.
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
  bool starts_a_program = false;  ///< which stands behind "--"
  bool may_lack_a_program = false;
  std::vector<DescribedCommand> subcommands;
};

DescribedCommand describe(const CLI::App& command);

std::vector<std::string> alternatives(const std::string& placeholder);
/// How much of an alternative is typed as it is: all of `auto`, `papi:` of `papi:EVENT`, nothing of `FILE`.
std::size_t typed_length(const std::string& alternative);

/// What stands behind the command's name: its words as `typed` and `stands_for` spell them.
using Spelling = std::function<std::string(const std::string&)>;
std::string usage(const DescribedCommand& command, const Spelling& typed, const Spelling& stands_for);

/// What --help prints of the command that is called by this name.
std::string help_text(const std::string& name, const DescribedCommand& command);

/// The files' contents.
std::string man_page(const DescribedCommand& program, const DescribedCommand& command, const std::string& date);
std::string bash_completion(const DescribedCommand& program);
std::string zsh_completion(const DescribedCommand& program);
std::string fish_completion(const DescribedCommand& program);

}  // namespace halcyon::cli
