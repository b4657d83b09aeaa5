#include "cli/console/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/console/output.hpp"

namespace halcyon::cli {
namespace {

// As CLI11 reads it for an option.
template <class Number>
bool is_whole_number(const std::string& text, Number& value) {
  return CLI::detail::lexical_cast(text, value);
}

}  // namespace

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::placeholder(const std::string& text) const {
  option_->type_name(text);
  return *this;
}

Option Option::check(const std::function<std::string(const std::string&)>& objection) const {
  option_->check(objection);
  return *this;
}

namespace {

std::string objection_to_file(const std::string& text) {
  if (text.starts_with('-')) return fmt::format("'{0}' looks like an option: a file of this name is ./{0}", text);
  return objection_to_writing(text);
}

}  // namespace

Option Option::output_file() const {
  return placeholder("FILE").check(
      [](const std::string& text) { return text == "-" ? "'-' is no file: name one" : objection_to_file(text); });
}

Option Option::output_file_or_stdout() const {
  return placeholder("FILE|-").check(
      [](const std::string& text) { return text == "-" ? std::string() : objection_to_file(text); });
}

Option Option::one_of(const std::vector<std::string>& values) const {
  // CLI11's check, from whose description help is made, with words of ours.
  CLI::Validator is_one_of = CLI::IsMember(values);
  is_one_of.operation([values](const std::string& text) {
    if (std::find(values.begin(), values.end(), text) != values.end()) return std::string();
    const std::string before = fmt::format("{}", fmt::join(values.begin(), values.end() - 1, ", "));
    return fmt::format("'{}' is not {}{}{}", text, before, before.empty() ? "" : " or ", values.back());
  });
  option_->check(is_one_of);
  return *this;
}

Option Option::from_to(int least, int most) const {
  CLI::Validator is_within = CLI::Range(least, most);
  is_within.operation([least, most](const std::string& text) {
    int value = 0;
    if (is_whole_number(text, value) && value >= least && value <= most) return std::string();
    return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
  });
  option_->check(is_within);
  return *this;
}

Option Option::repeatable() const {
  option_->expected(1)->take_all();
  return *this;
}

Option Option::with_default() const {
  option_->capture_default_str();
  return *this;
}

Command Command::subcommand(const std::string& name, const std::string& description) const {
  return Command(*app_->add_subcommand(name, description), *commands_);
}

void Command::needs_subcommand() const { app_->require_subcommand(1); }

Option Command::option(const std::string& names, std::string& value, const std::string& description) const {
  return Option(*app_->add_option(names, value, description));
}

Option Command::option(const std::string& names, std::vector<std::string>& value,
                       const std::string& description) const {
  return Option(*app_->add_option(names, value, description));
}

Option Command::option(const std::string& names, std::filesystem::path& value, const std::string& description) const {
  return Option(*app_->add_option(names, value, description));
}

Option Command::option(const std::string& names, int& value, const std::string& description) const {
  return Option(*app_->add_option(names, value, description));
}

Option Command::option(const std::string& names, std::uint64_t& value, const std::string& description) const {
  return Option(*app_->add_option(names, value, description)).check([](const std::string& text) {
    std::uint64_t number = 0;
    return is_whole_number(text, number) && !text.starts_with('-') ? std::string()
                                                                   : "'" + text + "' is not a whole number from 0";
  });
}

void Command::flag(const std::string& names, bool& value, const std::string& description) const {
  app_->add_flag(names, value, description);
}

void Command::notes(const std::string& text) const { app_->footer(text); }

void Command::does(const std::function<int()>& action) const {
  starts([action](const std::vector<std::string>&) { return action(); }, FollowingProgram::none);
}

void Command::starts(const Action& action, FollowingProgram program) const {
  app_->callback([action, commands = commands_] { commands->chosen = action; });
  if (program != FollowingProgram::none) commands_->programs[app_->get_name()] = program;
}

}  // namespace halcyon::cli
