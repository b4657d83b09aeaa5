// What --help prints.
#include <fmt/format.h>

#include "cli/describe/description.hpp"
#include "report/layout.hpp"

namespace halcyon::cli {
namespace {

constexpr std::size_t description_column = 26;

// "  what      description". The description begins on a new line if there is no room beside `what`.
std::string entry(const std::string& what, const std::string& description) {
  std::string beginning = fmt::format("  {:<{}}", what, description_column - 2);
  std::string text;
  if (beginning.size() > description_column || beginning.back() != ' ') {
    text = "  " + what + "\n";
    beginning.assign(description_column, ' ');
  }
  return text + filled(beginning, description_column, description);
}

std::string arguments(const std::vector<DescribedArgument>& list) {
  std::string text;
  for (const DescribedArgument& argument : list) {
    std::string what = argument.names.front().starts_with("--") ? "    " : "";  // aligned with other long names
    for (const std::string& name : argument.names) what += (&name == &argument.names.front() ? "" : ", ") + name;
    if (argument.names.front().front() == '-' && !argument.value.placeholder.empty()) {
      what += " " + argument.value.placeholder;
    }
    text += entry(what, argument.description);
  }
  return text;
}

std::string section(const std::string& heading, const std::string& text) {
  return text.empty() ? text : "\n" + heading + ":\n" + text;
}

// Fills prose; a line that begins with two spaces stays unchanged.
std::string lines(const std::string& beginning, const std::vector<std::string>& list) {
  std::string prose;
  std::string verbatim;
  for (const std::string& line : list) {
    if (line.starts_with("  ")) {
      verbatim += line + "\n";
    } else {
      prose += (prose.empty() ? "" : " ") + line;
    }
  }
  if (list.empty()) return "";
  return "\n" + (prose.empty() ? beginning + "\n" : filled(beginning, 0, prose)) + verbatim;
}

}  // namespace

std::string help_text(const std::string& name, const DescribedCommand& command) {
  const auto plain = [](const std::string& word) { return word; };
  std::string text = filled("Usage: " + name + " ", 2, usage(command, plain, plain));
  text += "\n" + filled("", 0, command.description);
  std::string commands;
  for (const DescribedCommand& subcommand : command.subcommands) {
    commands += entry(subcommand.name, subcommand.description);
  }
  text += section("Commands", commands) + section("Arguments", arguments(command.positionals)) +
          section("Options", arguments(command.options));
  return text + lines("", command.notes.prose) + lines("Exit status: ", command.notes.exit_status) +
         lines("Examples:", command.notes.examples);
}

}  // namespace halcyon::cli
