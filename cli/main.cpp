// halcyon: from one run of an MPI program, how much of its time came from outside.
#include <malloc.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/launch.hpp"

int main(int argc, char** argv) {
  using namespace halcyon::cli;
  // Columns of large profiles come and go. Memory that is kept for the next one need not be cleared by the kernel
  // again.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  CLI::App app{"Tells from one run of an MPI program how much of its time came from outside.", "halcyon"};
  app.set_version_flag("--version", "halcyon " HALCYON_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  halcyon run -- mpirun -np 4 ./app input     profile a run and give the verdict\n"
      "  halcyon report app.4p.nojob.*.h5            the report of a profile\n"
      "  halcyon compare monday.h5 tuesday.h5        which of two runs is more disturbed\n"
      "  halcyon validate -o DIR -- mpirun -np 4 ./app\n"
      "                                              how near its verdicts come to the truth, here\n"
      "  halcyon COMMAND --help                      more of each command");
  Action chosen;
  add_run(app, chosen);
  add_exec(app, chosen);
  add_validate(app, chosen);
  add_report(app, chosen);
  add_info(app, chosen);
  add_compare(app, chosen);
  add_compose(app, chosen);
  add_recover(app, chosen);
  add_export(app, chosen);
  // What follows the first "--" of a command that starts a program belongs to the program, whatever it looks like.
  char** const end = argv + argc;
  const std::string_view subcommand = argc > 1 ? argv[1] : "";
  const bool launches = subcommand == "run" || subcommand == "exec" || subcommand == "validate";
  char** const dashes =
      launches ? std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; }) : end;
  if (dashes != end) program_arguments().assign(dashes + 1, end);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ExtrasError& error) {
    if (!launches || dashes != end) return fail(std::string(error.what()) + " (see halcyon --help)");
    return fail("the program and its launcher stand behind '--' (see halcyon " + std::string(subcommand) + " --help)");
  } catch (const CLI::ParseError& error) {
    return fail(std::string(error.what()) + " (see halcyon --help)");
  }
  try {
    return chosen();
  } catch (const std::exception& error) {  // memory, mostly: what is expected to fail is an outcome
    return fail(error.what());
  }
}
