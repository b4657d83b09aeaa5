// A command of the command line: its options, and what it does. The library that parses them takes ten seconds to
// compile in every file that includes it; command.cpp knows it, and the files of subcommands do not.
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

/// What the chosen command does. `program` is what stands behind "--", if the command starts a program.
using Action = std::function<int(const std::vector<std::string>& program)>;

class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required() const;
  /// What stands for the value in help: words in small letters are typed as they are, `FILE` and `DIR` are completed.
  Option placeholder(const std::string& text) const;
  /// `objection` says why a text is no value, or nothing if it is one.
  Option check(const std::function<std::string(const std::string& text)>& objection) const;
  Option one_of(const std::vector<std::string>& values) const;
  Option from_to(int least, int most) const;
  /// May be given several times, with one value each.
  Option repeatable() const;
  /// Help tells what the value is when the option is defined.
  Option with_default() const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  /// What the chosen command does goes into `chosen`, which lives as long as the command line.
  Command(CLI::App& app, Action& chosen) : app_(&app), chosen_(&chosen) {}

  Command subcommand(const std::string& name, const std::string& description) const;
  /// A command of which one of several subcommands must be given.
  void needs_subcommand() const;
  /// Of the options that are added to it, exactly one must be given.
  Command alternatives(const std::string& name) const;

  /// `names` as in "-o,--output", or in capitals for what is given without a name. `value` outlives the command line.
  Option option(const std::string& names, std::string& value, const std::string& description) const;
  Option option(const std::string& names, std::vector<std::string>& value, const std::string& description) const;
  Option option(const std::string& names, std::filesystem::path& value, const std::string& description) const;
  Option option(const std::string& names, int& value, const std::string& description) const;
  Option option(const std::string& names, std::uint64_t& value, const std::string& description) const;
  void flag(const std::string& names, bool& value, const std::string& description) const;

  /// The text behind the options in help.
  void notes(const std::string& text) const;
  void does(const std::function<int()>& action) const;
  /// The same with a program, which stands behind "--".
  void starts(const Action& action) const;

 private:
  CLI::App* app_;
  Action* chosen_;
};

}  // namespace halcyon::cli
