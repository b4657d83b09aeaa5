// Completion for fish: one `complete` an option.
#include <algorithm>

#include "cli/describe/description.hpp"

namespace halcyon::cli {
namespace {

constexpr const char* before = R"(# fish completion for halcyon; generated from the definition of its command line.

# The words after "--" are a command line of their own.
function __halcyon_program
    set -l words (commandline -opc) (commandline -ct)
    set -l dashes (contains -i -- -- $words); or return
    set -l program $words[(math $dashes + 1)..-1]
    complete -C (string join ' ' -- (string escape -- $program[1..-2]) $program[-1])
end

function __halcyon_behind_dashes
    contains -- -- (commandline -opc)
end

function __halcyon_before_dashes
    not __halcyon_behind_dashes; and __fish_seen_subcommand_from $argv
end

complete -c halcyon -f
)";

std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + "'";
}

// The words that the value can have, and whether it can be a file.
std::string completed_by(const DescribedValue& value) {
  std::string words;
  for (const std::string& word : value.words) words += (words.empty() ? "" : " ") + word;
  if (value.is_directory) words = "(__fish_complete_directories)";
  return (value.is_file ? " -F" : "") + (words.empty() ? std::string() : " -a " + in_quotes(words));
}

std::string of_options(const DescribedCommand& command, const std::string& condition) {
  std::string text;
  for (const DescribedArgument& option : command.options) {
    text += "complete -c halcyon -n " + in_quotes(condition);
    for (const std::string& name : option.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!option.value.placeholder.empty()) text += (option.value.is_file ? " -r" : " -x") + completed_by(option.value);
    text += " -d " + in_quotes(option.description) + "\n";
  }
  return text;
}

// The options and arguments that an inner command has beyond those of the outer one.
std::string of_inner(DescribedCommand inner, const std::string& condition, const DescribedCommand& outer) {
  std::erase_if(inner.options, [&outer](const DescribedArgument& option) {
    return std::any_of(outer.options.begin(), outer.options.end(),
                       [&option](const DescribedArgument& other) { return other.names == option.names; });
  });
  std::string text = of_options(inner, condition);
  for (const DescribedArgument& positional : inner.positionals) {
    const std::string by = completed_by(positional.value);
    if (!by.empty()) text += "complete -c halcyon -n " + in_quotes(condition) + by + "\n";
  }
  return text;
}

}  // namespace

std::string fish_completion(const DescribedCommand& program) {
  std::string text = before + of_options(program, "__fish_use_subcommand");
  for (const DescribedCommand& command : program.subcommands) {
    text += "\ncomplete -c halcyon -n __fish_use_subcommand -a " + command.name + " -d " +
            in_quotes(command.description) + "\n" + of_options(command, "__halcyon_before_dashes " + command.name);
    std::string inner_names;
    for (const DescribedCommand& inner : command.subcommands) inner_names += " " + inner.name;
    for (const DescribedCommand& inner : command.subcommands) {
      text +=
          "complete -c halcyon -n " +
          in_quotes("__halcyon_before_dashes " + command.name + "; and not __fish_seen_subcommand_from" + inner_names) +
          " -a " + inner.name + " -d " + in_quotes(inner.description) + "\n" +
          of_inner(inner,
                   "__fish_seen_subcommand_from " + command.name + "; and __fish_seen_subcommand_from " + inner.name,
                   command);
    }
    for (const DescribedArgument& positional : command.positionals) {
      const std::string by = completed_by(positional.value);
      if (!by.empty())
        text += "complete -c halcyon -n " + in_quotes("__fish_seen_subcommand_from " + command.name) + by + "\n";
    }
    if (command.starts_a_program()) {
      text += "complete -c halcyon -n " +
              in_quotes("__halcyon_behind_dashes; and __fish_seen_subcommand_from " + command.name) +
              " -x -a '(__halcyon_program)'\n";
    }
  }
  return text;
}

}  // namespace halcyon::cli
