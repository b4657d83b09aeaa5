// Completion for zsh, with its function _arguments.
#include <algorithm>

#include "cli/describe/description.hpp"

namespace halcyon::cli {
namespace {

constexpr const char* before = R"(#compdef halcyon
# zsh completion for halcyon; generated from the definition of its command line.

_halcyon() {
  local curcontext=$curcontext state line
  local -i dashes
)";

constexpr const char* behind_the_program = R"(
  [[ $state == arguments ]] || return 0
  case $words[1] in
)";

// Escapes text for single quotes, and the characters that have a meaning for _arguments.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\'') {
      result += "'\\''";
    } else {
      if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') result += '\\';
      result += letter;
    }
  }
  return result;
}

std::string action(const DescribedValue& value) {
  std::string text = ":" + escaped(value.placeholder) + ":";
  if (value.is_file) return text + "_files";
  if (value.is_directory) return text + "_files -/";
  std::string words;
  for (const std::string& word : value.words) words += (words.empty() ? "" : " ") + escaped(word);
  return text + (words.empty() ? " " : "(" + words + ")");
}

// '(-o --output)'{-o+,--output=}'[description]:FILE:_files', or with one name '(--name)--name=[description]…'.
std::string specification(const DescribedArgument& option) {
  const bool has_value = !option.value.placeholder.empty();
  std::string names;
  std::string forms;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : " ") + name;
    forms += (forms.empty() ? "" : ",") + name;
    if (has_value) forms += name.starts_with("--") ? "=" : "+";
  }
  return "'" + (option.repeatable ? "*" : "(" + names + ")") +
         (option.names.size() == 1 ? forms : "'{" + forms + "}'") + "[" + escaped(option.description) + "]" +
         (has_value ? action(option.value) : "") + "'";
}

std::string arguments(const DescribedCommand& command) {
  std::string text;
  for (const DescribedArgument& option : command.options) text += " \\\n        " + specification(option);
  int place = 0;
  for (const DescribedArgument& positional : command.positionals) {
    const std::string where = positional.repeatable ? "*" : std::to_string(++place);
    text += " \\\n        '" + where + action(positional.value) + "'";
  }
  return text;
}

// The subcommands of a command, and all arguments that any of them takes.
std::string inner_arguments(const DescribedCommand& command) {
  if (command.subcommands.empty()) return "";
  std::string text;
  std::string names;
  for (const DescribedCommand& subcommand : command.subcommands) {
    names += (names.empty() ? "" : " ") + subcommand.name;
    for (const DescribedArgument& option : subcommand.options) {
      const auto is_known = [&option](const DescribedArgument& other) { return other.names == option.names; };
      if (std::none_of(command.options.begin(), command.options.end(), is_known)) {
        text += " \\\n        " + specification(option);
      }
    }
  }
  return text + " \\\n        '1:command:(" + names + ")' '*:FILE:_files'";
}

}  // namespace

std::string zsh_completion(const DescribedCommand& program) {
  std::string text = before;
  text += "  local -a commands=(\n";
  std::string of_commands;
  for (const DescribedCommand& command : program.subcommands) {
    text += "    '" + command.name + ":" + escaped(command.description) + "'\n";
    of_commands += "    " + command.name + ")\n";
    if (command.starts_a_program()) {
      of_commands +=
          "      dashes=${words[(i)--]}\n"
          "      if ((dashes < CURRENT)); then\n"
          "        shift $dashes words\n"
          "        ((CURRENT -= dashes))\n"
          "        _normal\n"
          "        return\n"
          "      fi\n";
    }
    of_commands += "      _arguments -s" + arguments(command) + inner_arguments(command) + "\n      ;;\n";
  }
  text += "  )\n  _arguments -C" + arguments(program) + " \\\n        '1: :->command' '*:: :->arguments' && return\n";
  text += "  if [[ $state == command ]]; then\n    _describe -t commands command commands\n    return\n  fi\n";
  return text + (behind_the_program + 1) + of_commands + "  esac\n}\n\n_halcyon \"$@\"\n";
}

}  // namespace halcyon::cli
