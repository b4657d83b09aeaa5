// halcyon-describe: writes man pages and shell completions from the definition of the command line, and a page of a
// profile's columns from their list, during the build.
// usage: halcyon-describe DIR DATE   Writes into DIR with the layout of an installation's share/.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/describe/columns_page.hpp"
#include "cli/describe/description.hpp"

namespace {

bool write(const std::filesystem::path& file, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  std::ofstream out(file);
  if ((out << text).flush()) return true;
  halcyon::cli::tell("cannot write " + file.string() + ": " + std::strerror(errno));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace halcyon::cli;
  if (argc != 3) return fail("usage: halcyon-describe DIR DATE");
  const std::filesystem::path share = argv[1];
  Commands commands;
  const std::unique_ptr<CLI::App> command_line = define_command_line(commands);
  const DescribedCommand program = describe(*command_line, commands);
  bool written = write(share / "man/man1" / (program.name + ".1"), man_page(program, program, argv[2])) &&
                 write(share / "bash-completion/completions" / program.name, bash_completion(program)) &&
                 write(share / "zsh/site-functions" / ("_" + program.name), zsh_completion(program)) &&
                 write(share / "halcyon/columns.md", columns_page()) &&
                 write(share / "fish/vendor_completions.d" / (program.name + ".fish"), fish_completion(program));
  for (const DescribedCommand& command : program.subcommands) {
    written = written && write(share / "man/man1" / (program.name + "-" + command.name + ".1"),
                               man_page(program, command, argv[2]));
  }
  return written ? passed : bad_usage_or_file;
}
