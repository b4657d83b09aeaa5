// Man pages: halcyon(1), and one per subcommand.
#include <cctype>

#include "cli/describe/description.hpp"

namespace halcyon::cli {
namespace {

// Escapes text for roff: keeps hyphens and quotes, and no line begins with a control character.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '\\': result += "\\e"; break;
      case '-': result += "\\-"; break;
      case '\'': result += "\\(aq"; break;
      case '`': result += "\\(ga"; break;
      case '^': result += "\\(ha"; break;
      case '~': result += "\\(ti"; break;
      default: result += letter;
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

// Literal words are bold, placeholders italic.
std::string placeholder(const std::string& text) {
  std::string result;
  for (const std::string& alternative : alternatives(text)) {
    const std::size_t typed = typed_length(alternative);
    if (!result.empty()) result += "|";
    if (typed > 0) result += bold(alternative.substr(0, typed));
    if (typed < alternative.size()) result += italic(alternative.substr(typed));
  }
  return result;
}

std::string as_sentence(const std::string& text) { return text.ends_with('.') ? text : text + "."; }

std::string arguments(const std::vector<DescribedArgument>& list) {
  std::string text;
  for (const DescribedArgument& argument : list) {
    text += ".TP\n";
    if (argument.names.front().front() == '-') {
      std::string names;
      for (const std::string& name : argument.names) names += (names.empty() ? "" : ", ") + bold(name);
      text += names;
      if (!argument.value.placeholder.empty()) text += " " + placeholder(argument.value.placeholder);
    } else {
      text += italic(argument.names.front());
    }
    text += "\n" + escaped(as_sentence(argument.description)) + "\n";
  }
  return text;
}

// Roff fills prose; lines that begin with two spaces stay unchanged.
std::string lines(const std::vector<std::string>& list) {
  std::string text;
  bool verbatim = false;
  for (const std::string& line : list) {
    const bool is_verbatim = line.starts_with("  ");
    if (is_verbatim != verbatim) text += is_verbatim ? ".EX\n" : ".EE\n";
    verbatim = is_verbatim;
    text += escaped(line) + "\n";
  }
  return text + (verbatim ? ".EE\n" : "");
}

std::string section(const std::string& name, const std::string& text) {
  return text.empty() ? text : ".SH " + name + "\n" + text;
}

std::string in_capitals(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

std::string with_first(int (*change)(int), std::string text) {
  text.front() = static_cast<char>(change(static_cast<unsigned char>(text.front())));
  return text;
}

// For the section NAME, which has no sentences.
std::string as_phrase(const std::string& description) {
  std::string text = with_first(std::tolower, description);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string page_name(const DescribedCommand& program, const DescribedCommand& command) {
  return program.name == command.name ? program.name : program.name + "-" + command.name;
}

}  // namespace

std::string man_page(const DescribedCommand& program, const DescribedCommand& command, const std::string& date) {
  const bool is_program = &program == &command;
  const std::string name = page_name(program, command);
  std::string text = ".TH \"" + in_capitals(escaped(name)) + "\" 1 \"" + date + "\" \"" + program.name +
                     " " HALCYON_VERSION "\" \"User Commands\"\n.ad l\n.nh\n";
  text += section("NAME", escaped(name) + " \\- " + escaped(as_phrase(command.description)) + "\n");
  text += section("SYNOPSIS", bold(program.name) + " " + (is_program ? "" : bold(command.name) + " ") +
                                  usage(command, bold, italic) + "\n");
  text += section("DESCRIPTION", escaped(as_sentence(command.description)) + "\n" +
                                     (command.notes.prose.empty() ? "" : ".PP\n" + lines(command.notes.prose)));
  std::string commands;
  for (const DescribedCommand& subcommand : command.subcommands) {
    // The program's subcommands have pages of their own.
    const std::string rest = is_program ? "" : " " + usage(subcommand, bold, italic);
    commands += ".TP\n" + bold(subcommand.name) + rest + "\n" + escaped(as_sentence(subcommand.description)) + "\n";
    if (!is_program) commands += ".RS\n" + arguments(subcommand.positionals) + arguments(subcommand.options) + ".RE\n";
  }
  text += section("COMMANDS", commands);
  text += section("ARGUMENTS", arguments(command.positionals));
  text += section("OPTIONS", arguments(command.options));
  std::vector<std::string> exit_status = command.notes.exit_status;
  if (!exit_status.empty()) exit_status.front() = with_first(std::toupper, exit_status.front());
  text += section("EXIT STATUS", lines(exit_status));
  text += section("EXAMPLES", lines(command.notes.examples));
  std::string others;
  const auto refer = [&others, &name](const std::string& page) {
    if (page != name) others += (others.empty() ? "" : ",\n") + ("\\%\\fB" + escaped(page) + "\\fR(1)");
  };
  refer(program.name);
  for (const DescribedCommand& subcommand : program.subcommands) refer(page_name(program, subcommand));
  return text + section("SEE ALSO", others + "\n");
}

}  // namespace halcyon::cli
