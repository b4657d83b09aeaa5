#include "cli/describe/description.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/command_line.hpp"

namespace halcyon::cli {
namespace {

DescribedValue value_from(const std::string& placeholder) {
  DescribedValue value{.placeholder = placeholder};
  for (const std::string& alternative : alternatives(placeholder)) {
    if (alternative == "FILE") {
      value.is_file = true;
    } else if (alternative == "DIR") {
      value.is_directory = true;
    } else if (const std::size_t length = typed_length(alternative); length > 0) {
      value.words.push_back(alternative.substr(0, length));
    }
  }
  return value;
}

DescribedArgument argument_from(const CLI::Option& option) {
  constexpr const char* unnamed = "TEXT";  // CLI11's name of any string
  DescribedArgument argument{.description = option.get_description(), .required = option.get_required()};
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  argument.repeatable = option.get_expected_max() == CLI::detail::expected_max_vector_size ||
                        option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  // "TEXT:{yellow,red}" of a set, "N:INT in [2 - 1000]" of a range.
  const std::string type = option.get_type_name();
  const std::size_t colon = type.find(':');
  const bool is_set = colon != std::string::npos && type.compare(colon + 1, 1, "{") == 0;
  const std::size_t range = colon != std::string::npos ? type.find(" in [", colon) : colon;
  std::string placeholder = option.get_type_size() == 0 ? std::string() : type;
  if (is_set) {
    placeholder = type.substr(colon + 2, type.size() - colon - 3);
    std::replace(placeholder.begin(), placeholder.end(), ',', '|');
  } else if (range != std::string::npos) {
    placeholder = type.substr(0, colon);
    const std::size_t begin = range + std::string_view(" in [").size();
    const std::size_t between = type.find(" - ", begin);
    argument.description += ", " + placeholder + " from " + type.substr(begin, between - begin) + " to " +
                            type.substr(between + 3, type.find(']') - between - 3);
  }
  if (!option.nonpositional()) {
    const std::string name = option.get_name();
    argument.names.push_back(name);
    if (placeholder == unnamed) placeholder = name;
  }
  argument.value = value_from(placeholder);
  if (!option.get_default_str().empty()) argument.description += ". Default: " + option.get_default_str();
  return argument;
}

DescribedNotes notes_from(const std::string& footer) {
  DescribedNotes notes;
  std::vector<std::string>* section = &notes.prose;
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    for (const auto& [heading, of_heading] :
         {std::pair("Exit status:", &notes.exit_status), std::pair("Examples:", &notes.examples),
          std::pair("Example:", &notes.examples)}) {
      if (!line.starts_with(heading)) continue;
      section = of_heading;
      line.erase(0, line.find_first_not_of(' ', std::string(heading).size()));
      // An example on the line of the heading is treated like those on lines of their own.
      if (section == &notes.examples && !line.empty()) line.insert(0, "  ");
    }
    if (!line.empty()) section->push_back(line);
  }
  return notes;
}

// All commands end alike; `special`: what else there is of this one, or whose status it returns.
std::vector<std::string> exit_statuses(const std::vector<std::string>& special) {
  constexpr const char* without_result = "2 bad usage or failure";
  std::string words;
  for (const std::string& line : special) words += (words.empty() ? "" : " ") + line;
  if (words.ends_with('.')) words.pop_back();
  if (words.starts_with("that of")) return {words + "; if it has none: " + without_result + "."};
  return {std::string("0 done, ") + without_result + (words.empty() ? "." : "; " + words + ".")};
}

void add_parts(const CLI::App& command, const Commands& commands, DescribedCommand& described) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->nonpositional() ? described.options : described.positionals).push_back(argument_from(*option));
  }
  for (const CLI::App* part : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!part->get_group().empty()) described.subcommands.push_back(describe(*part, commands));
  }
}

}  // namespace

std::vector<std::string> alternatives(const std::string& placeholder) {
  std::vector<std::string> list;
  std::istringstream in(placeholder);
  for (std::string alternative; std::getline(in, alternative, '|');) list.push_back(alternative);
  return list;
}

std::size_t typed_length(const std::string& alternative) {
  const auto capital = std::find_if(alternative.begin(), alternative.end(),
                                    [](char letter) { return std::isupper(static_cast<unsigned char>(letter)) != 0; });
  return static_cast<std::size_t>(capital - alternative.begin());
}

std::string usage(const DescribedCommand& command, const Spelling& typed, const Spelling& stands_for) {
  std::string line;
  const auto add = [&line](const std::string& word) { line += (line.empty() ? "" : " ") + word; };
  const std::string options = "[" + stands_for("OPTION") + "]...";
  if (!command.subcommands.empty()) return stands_for("COMMAND") + " " + options;
  for (const DescribedArgument& option : command.options) {
    if (option.required) add(typed(option.names.front()) + " " + stands_for(option.value.placeholder));
  }
  add(options);
  for (const DescribedArgument& positional : command.positionals) {
    const std::string word = stands_for(positional.names.front()) + (positional.repeatable ? "..." : "");
    add(positional.required ? word : "[" + word + "]");
  }
  const std::string program = typed("--") + " " + stands_for("COMMAND") + " [" + stands_for("ARGUMENT") + "]...";
  if (command.starts_a_program()) add(command.program == FollowingProgram::optional ? "[" + program + "]" : program);
  return line;
}

DescribedCommand describe(const CLI::App& command, const Commands& commands) {
  DescribedCommand described{.name = command.get_name(),
                             .description = command.get_description(),
                             .notes = notes_from(command.get_footer()),
                             .program = commands.program_of(command.get_name())};
  described.notes.exit_status = exit_statuses(described.notes.exit_status);
  add_parts(command, commands, described);
  return described;
}

}  // namespace halcyon::cli
