// Completion for bash. It needs only bash; after "--" it hands over to bash-completion, if that is loaded.
#include "cli/describe/description.hpp"

namespace halcyon::cli {
namespace {

constexpr const char* before = R"(# bash completion for halcyon; generated from the definition of its command line.

_halcyon() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= inner= i
  COMPREPLY=()
  # --option=value comes as three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      _halcyon_starts_a_program "$command" || break
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      elif ((i + 1 == COMP_CWORD)); then
        _halcyon_complete "$word" command
      else
        _halcyon_complete "$word" file
      fi
      return
    fi
    [[ ${COMP_WORDS[i]} == -* ]] && continue
    if [[ -z $command ]]; then
      command=${COMP_WORDS[i]}
    elif [[ -z $inner ]]; then
      inner=${COMP_WORDS[i]}
    fi
  done
)";

constexpr const char* helpers = R"(
# Offers what begins with the first argument: names of the kind of the second one (file, directory, command), and those
# of the further arguments.
_halcyon_complete() {
  local word=$1 action=$2 line
  shift 2
  while IFS= read -r line; do
    [[ -n $line ]] && COMPREPLY+=("$line")
  done < <(
    [[ -n $action ]] && compgen -A "$action" -- "$word"
    compgen -W "$*" -- "$word"
  )
  [[ $action == file || $action == directory ]] && compopt -o filenames
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace
  return 0
}

complete -F _halcyon halcyon
)";

// The arguments of _halcyon_complete after the first.
std::string completed_by(const DescribedValue& value) {
  std::string text = value.is_file ? "file" : value.is_directory ? "directory" : "''";
  for (const std::string& word : value.words) text += " '" + word + "'";
  return text;
}

std::string option_words(const DescribedCommand& command) {
  std::string words;
  for (const DescribedArgument& option : command.options) {
    for (const std::string& name : option.names) words += " " + name;
  }
  return words;
}

std::string of_command(const DescribedCommand& command) {
  if (!command.subcommands.empty()) {
    std::string names;
    std::string inner;
    for (const DescribedCommand& subcommand : command.subcommands) {
      names += " " + subcommand.name;
      inner += of_command(subcommand);
    }
    return "    " + command.name + ")\n    case $inner in\n    '') _halcyon_complete \"$word\" ''" + names +
           option_words(command) + " ;;\n" + inner + "    esac\n    ;;\n";
  }
  std::string text = "    " + command.name + ")\n      case $previous in\n";
  for (const DescribedArgument& option : command.options) {
    if (option.value.placeholder.empty()) continue;
    std::string pattern;
    for (const std::string& name : option.names) pattern += (pattern.empty() ? "" : "|") + name;
    text += "        " + pattern + ") _halcyon_complete \"$word\" " + completed_by(option.value) + "; return ;;\n";
  }
  text += "      esac\n";
  // "--" and a launch command can follow at any time. A word that does not begin with '-' completes to a file, if the
  // command takes one.
  const std::string options = option_words(command) + (command.starts_a_program() ? " --" : "");
  DescribedValue positional;
  for (const DescribedArgument& argument : command.positionals) {
    positional.is_file |= argument.value.is_file;
    positional.is_directory |= argument.value.is_directory;
    positional.words.insert(positional.words.end(), argument.value.words.begin(), argument.value.words.end());
  }
  if (command.positionals.empty()) return text + "      _halcyon_complete \"$word\" ''" + options + "\n      ;;\n";
  return text + "      if [[ $word == -* ]]; then\n        _halcyon_complete \"$word\" ''" + options +
         "\n      else\n        _halcyon_complete \"$word\" " + completed_by(positional) + "\n      fi\n      ;;\n";
}

}  // namespace

std::string bash_completion(const DescribedCommand& program) {
  std::string names;
  std::string programs;
  std::string commands;
  for (const DescribedCommand& command : program.subcommands) {
    names += " " + command.name;
    if (command.starts_a_program()) programs += (programs.empty() ? "" : "|") + command.name;
    commands += of_command(command);
  }
  return std::string(before) + "  case $command in\n    '') _halcyon_complete \"$word\" ''" + names +
         option_words(program) + " ;;\n" + commands + "  esac\n}\n\n_halcyon_starts_a_program() {\n  case $1 in " +
         programs + ") return 0 ;; esac\n  return 1\n}\n" + helpers;
}

}  // namespace halcyon::cli
