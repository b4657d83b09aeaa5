#include "cli/run_command_line.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/describe/description.hpp"
#include "cli/console/former_options.hpp"
#include "cli/explanation.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/console/suggestion.hpp"

namespace halcyon::cli {
namespace {

// The command whose words were wrong: the last one that was named.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : innermost(*named.front());
}

// What is wrong with a command line. Where CLI11 speaks of the inside of a program, our words for what to type.
std::string words_of(const CLI::ParseError& error, const CLI::App& command, const Commands& commands) {
  const std::string words = error.what();
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  const std::string name = words.substr(0, words.find(':'));
  const CLI::Option* const option = lacks_value ? command.get_option_no_throw(name) : nullptr;
  if (option == nullptr) return words;
  if (option->count() > 1) return name + " may be given only once";
  for (const DescribedArgument& described : describe(command, commands).options) {
    const bool is_it = std::find(described.names.begin(), described.names.end(), name) != described.names.end();
    if (is_it) return name + " has no value: type " + name + " " + described.value.placeholder;
  }
  return words;
}

void parse(CLI::App& app, const std::vector<std::string>& words) {
  app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
}

bool is_command_line(CLI::App& app, const std::vector<std::string>& words) {
  try {
    parse(app, words);
  } catch (const CLI::Success&) {
  } catch (const CLI::ParseError&) {
    return false;
  }
  return true;
}

// The words as they are, or as they were typed in the version before. What is wrong is told of the words as they are.
void parse_or_as_before(CLI::App& app, const std::string& command, const std::vector<std::string>& words) {
  const std::optional<ValuedWords> before = with_values_of_flags(command, words);
  if (!before || is_command_line(app, words) || !is_command_line(app, before->words)) {
    parse(app, words);
    return;
  }
  tell(before->warning);
  parse(app, before->words);
}

}  // namespace

int run_command_line(int argc, char** argv) try {
  // `halcyon help COMMAND` is `halcyon COMMAND --help`.
  std::vector<char*> words(argv, argv + argc);
  std::string help = "--help";
  const bool asks_for_help = argc > 1 && std::string_view(argv[1]) == "help";
  if (asks_for_help) {
    if (const auto explanation = argc > 2 ? explanation_of(argv[2]) : std::nullopt) {
      const Status printed = print_text(*explanation);
      return printed ? int{passed} : fail(printed.failure().message);
    }
    words.erase(words.begin() + 1);
    words.insert(words.begin() + (argc > 2 ? 2 : 1), help.data());
  }
  argc = static_cast<int>(words.size());
  argv = words.data();
  Commands commands;
  const std::unique_ptr<CLI::App> app = define_command_line(commands);
  // All words after the first "--" of a command that starts a program belong to the program.
  char** const end = argv + argc;
  const std::string_view subcommand = argc > 1 ? argv[1] : "";
  const bool launches = commands.starts_a_program(subcommand);
  char** const dashes =
      launches ? std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; }) : end;
  std::vector<std::string> program;
  if (dashes != end) program.assign(dashes + 1, end);
  // The command that the first words name, and one of it, such as `ledger lost`.
  std::string command_named = "halcyon ";
  CLI::App* named = app.get();
  for (char** word = argv + 1; word < end; ++word) {
    const auto found = named->get_subcommands([&](const CLI::App* command) { return command->get_name() == *word; });
    if (found.empty()) break;
    named = found.front();
    command_named += std::string(*word) + " ";
  }
  const bool is_known = named != app.get();
  const std::string help_of_command = command_named + "--help";
  const std::string see = " (see " + help_of_command + ")";
  const bool is_other_word = !is_known && !subcommand.empty() && subcommand.front() != '-';
  // What was meant if a launcher is not behind the "--" of a command.
  const auto launch_meant = [&](const std::string& command, char** from) {
    const std::string line = with_launcher_behind_dashes(command, {from, end});
    return line.empty() ? line : ". Did you mean: " + line;
  };
  if (subcommand.starts_with("-")) {
    if (const std::string meant = launch_meant("run", argv + 1); !meant.empty()) {
      return fail("there is no command before '" + std::string(subcommand) + "'" + meant);
    }
  }
  if (is_other_word) {
    const std::string word(subcommand);
    if (std::filesystem::is_regular_file(word)) {
      return fail("there is no command '" + word + "'. Did you mean: halcyon report " + word + "?");
    }
    std::vector<std::string> names = command_names(*app);
    if (asks_for_help) {
      for (const std::string& code : explained_codes()) names.push_back(code);
    }
    std::string meant = did_you_mean(word, names);
    const bool is_program = found_program(word) || place_of_launcher({word}) == 0;
    if (meant.empty()) meant = launch_meant("run", argv + (is_program ? 1 : 2));
    return fail(std::string("there is no command ") + (asks_for_help ? "or code " : "") + "'" + word + "'" + meant +
                see);
  }
  try {
    const std::vector<std::string> typed(std::min(argv + 1, dashes), dashes);
    parse_or_as_before(*app, std::string(subcommand), with_new_names(subcommand, typed, tell));
  } catch (const CLI::Success& success) {
    return app->exit(success);
  } catch (const CLI::ParseError& error) {
    if (launches && dashes == end) {
      if (const std::string meant = launch_meant(std::string(subcommand), argv + 2); !meant.empty()) {
        return fail("put the launcher and its program behind '--'" + meant);
      }
    }
    const CLI::App& command = innermost(*app);
    if (command.get_require_subcommand_min() > 0 && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      const std::vector<std::string> others = app->remaining(true);
      if (others.empty() || others.front().starts_with("-")) {
        return fail("a command is required: " + help_of_command + " lists them");
      }
      const std::string& word = others.front();
      return fail("there is no command '" + std::string(subcommand) + " " + word + "'" +
                  did_you_mean(word, command_names(command)) + see);
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) {
      return fail(words_of(error, command, commands) + see);
    }
    const std::string unexpected = app->remaining(true).empty() ? "" : app->remaining(true).front();
    if (launches && dashes == end && !unexpected.starts_with("-")) {
      return fail("put the program that it starts behind '--'" + see);
    }
    const std::string is_wrong = unexpected.starts_with("-") ? "there is no option '" + unexpected + "'"
                                                             : "'" + unexpected + "' is one word too many";
    return fail(is_wrong + did_you_mean(unexpected, option_names(command)) + see);
  }
  return commands.chosen(program);
} catch (const std::exception& error) {
  return fail(words_of(error));
}

}  // namespace halcyon::cli
