// A command of the command line: its options and its action. The files of subcommands do not include CLI11, which
// takes ten seconds to compile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace halcyon::cli {

/// The action of the chosen command. `program` is everything after "--", if the command starts a program.
using Action = std::function<int(const std::vector<std::string>& program)>;

/// Whether a program follows "--".
enum class FollowingProgram : std::uint8_t { none, optional, required };

/// What is known of the commands beyond their options.
struct Commands {
  Action chosen;                                                  // of the command line that was parsed
  std::map<std::string, FollowingProgram, std::less<>> programs;  // of the commands that start programs

  bool starts_a_program(std::string_view command) const { return program_of(command) != FollowingProgram::none; }
  FollowingProgram program_of(std::string_view command) const {
    const auto found = programs.find(command);
    return found == programs.end() ? FollowingProgram::none : found->second;
  }
};

class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required() const;
  /// The placeholder for the value in help. Words in small letters are typed literally; shells complete `FILE` and
  /// `DIR`.
  Option placeholder(const std::string& text) const;
  /// `objection` returns why a text is not a valid value, or an empty string if it is.
  Option check(const std::function<std::string(const std::string& text)>& objection) const;
  /// The value is a file that the command writes or replaces: what keeps it from that is told before the command
  /// begins.
  Option output_file() const;
  /// The same, or standard output if the value is "-".
  Option output_file_or_stdout() const;
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
  /// `commands` must outlive the command line.
  Command(CLI::App& app, Commands& commands) : app_(&app), commands_(&commands) {}

  Command subcommand(const std::string& name, const std::string& description) const;
  /// Requires one of the subcommands.
  void needs_subcommand() const;

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
  /// The same with a program, which follows "--". Help and completions then say so.
  void starts(const Action& action, FollowingProgram program = FollowingProgram::required) const;

 private:
  CLI::App* app_;
  Commands* commands_;
};

}  // namespace halcyon::cli
