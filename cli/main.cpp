// halcyon: from one run of an MPI program, how much of its time came from outside.
#include <malloc.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <string_view>

#include "cli/command_line.hpp"
#include "cli/launch.hpp"

int main(int argc, char** argv) {
  using namespace halcyon::cli;
  // Columns of large profiles come and go. Memory that is kept for the next one need not be cleared by the kernel
  // again.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  Action chosen;
  const std::unique_ptr<CLI::App> app = define_command_line(chosen);
  // What follows the first "--" of a command that starts a program belongs to the program, whatever it looks like.
  char** const end = argv + argc;
  const std::string_view subcommand = argc > 1 ? argv[1] : "";
  const bool launches = starts_a_program(subcommand);
  char** const dashes =
      launches ? std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; }) : end;
  if (dashes != end) program_arguments().assign(dashes + 1, end);
  const bool is_known =
      !app->get_subcommands([&](const CLI::App* command) { return command->get_name() == subcommand; }).empty();
  const std::string see = " (see halcyon " + (is_known ? std::string(subcommand) + " " : "") + "--help)";
  try {
    app->parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::Success& success) {
    return app->exit(success);
  } catch (const CLI::ExtrasError& error) {
    return fail((launches && dashes == end ? "the program and its launcher stand behind '--'" : error.what()) + see);
  } catch (const CLI::ParseError& error) {
    const bool is_other_word = !is_known && !subcommand.empty() && subcommand.front() != '-';
    return fail((is_other_word ? "there is no command '" + std::string(subcommand) + "'" : error.what()) + see);
  }
  try {
    return chosen();
  } catch (const std::exception& error) {  // memory, mostly: what is expected to fail is an outcome
    return fail(error.what());
  }
}
