// A command of the command line: its options and its action. Only command.cpp includes CLI11, which takes ten seconds
// to compile; the files of subcommands do not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace halcyon::cli {

/// The action of the chosen command. `program` is everything after "--", if the command starts a program.
using Action = std::function<int(const std::vector<std::string>& program)>;

class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required() const;
  /// The placeholder for the value in help. Words in small letters are typed literally; shells complete `FILE` and
  /// `DIR`.
  Option placeholder(const std::string& text) const;
  /// `objection` returns why a text is not a valid value, or an empty string if it is.
  Option check(const std::function<std::string(const std::string& text)>& objection) const;
  Option one_of(const std::vector<std::string>& values) const;
  Option from_to(int least, int most) const;
  /// May be given several times, with one value each time.
  Option repeatable() const;
  /// Help shows the value that the variable has now.
  Option with_default() const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  /// The action of the chosen command goes into `chosen`, which must outlive the command line.
  Command(CLI::App& app, Action& chosen) : app_(&app), chosen_(&chosen) {}

  Command subcommand(const std::string& name, const std::string& description) const;
  /// Requires one of the subcommands.
  void needs_subcommand() const;
  /// A group of options of which exactly one must be given.
  Command alternatives(const std::string& name) const;

  /// `names` is like "-o,--output", or in capitals for a positional argument. `value` must outlive the command line.
  Option option(const std::string& names, std::string& value, const std::string& description) const;
  Option option(const std::string& names, std::vector<std::string>& value, const std::string& description) const;
  Option option(const std::string& names, std::filesystem::path& value, const std::string& description) const;
  Option option(const std::string& names, int& value, const std::string& description) const;
  Option option(const std::string& names, std::uint64_t& value, const std::string& description) const;
  void flag(const std::string& names, bool& value, const std::string& description) const;

  /// The text after the options in help.
  void notes(const std::string& text) const;
  void does(const std::function<int()>& action) const;
  /// The same with a program, which follows "--".
  void starts(const Action& action) const;

 private:
  CLI::App* app_;
  Action* chosen_;
};

}  // namespace halcyon::cli
