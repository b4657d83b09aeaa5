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
#include "cli/explanation.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/suggestion.hpp"

namespace halcyon::cli {

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
  const bool is_known =
      !app->get_subcommands([&](const CLI::App* command) { return command->get_name() == subcommand; }).empty();
  const std::string see = " (see halcyon " + (is_known ? std::string(subcommand) + " " : "") + "--help)";
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
    app->parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::Success& success) {
    return app->exit(success);
  } catch (const CLI::ParseError& error) {
    if (launches && dashes == end) {
      if (const std::string meant = launch_meant(std::string(subcommand), argv + 2); !meant.empty()) {
        return fail("put the launcher and its program behind '--'" + meant);
      }
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return fail(error.what() + see);
    const std::string unexpected = app->remaining(true).empty() ? "" : app->remaining(true).front();
    if (launches && dashes == end && !unexpected.starts_with("-")) {
      return fail("put the program that it starts behind '--'" + see);
    }
    const CLI::App* const command = is_known ? app->get_subcommand(std::string(subcommand)) : app.get();
    return fail(error.what() + did_you_mean(unexpected, option_names(*command)) + see);
  }
  return commands.chosen(program);
} catch (const std::exception& error) {
  return fail(words_of(error));
}

}  // namespace halcyon::cli
