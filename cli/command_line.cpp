#include "cli/command_line.hpp"

#include "cli/commands.hpp"
#include "cli/describe/description.hpp"
#include "cli/ledger/commands.hpp"

namespace halcyon::cli {

std::unique_ptr<CLI::App> define_command_line(Commands& commands) {
  auto app = std::make_unique<CLI::App>(
      "Says how much of the run time of an MPI program came from outside, from a single run.", "halcyon");
  app->set_version_flag("--version", "halcyon " HALCYON_VERSION);
  app->require_subcommand(1);
  app->formatter_fn([&commands](const CLI::App* command, const std::string& name, CLI::AppFormatMode) {
    return help_text(name, describe(*command, commands));
  });
  app->footer(
      "Exit status: 3 the answer is no, or worse than asked; 4 not known. Commands that start a program return its\n"
      "status. halcyon help 3 explains 3.\n"
      "Examples:\n"
      "  halcyon run -- mpirun -np 4 ./app input     profile a run and give the verdict\n"
      "  halcyon report app.4p.nojob.*.h5            show the report of a profile\n"
      "  halcyon compare monday.h5 tuesday.h5        say which run is more disturbed\n"
      "  halcyon validate -o DIR -- mpirun -np 4 ./app\n"
      "                                              test the accuracy on this machine\n"
      "  halcyon search --vary N=1..99 --limit 'time < 9 s' -- mpirun -np 4 ./app {N}\n"
      "                                              find the largest N that meets a limit\n"
      "  halcyon watch                               show the running jobs\n"
      "  halcyon help COMMAND                        show all options of a command\n"
      "  halcyon help CODE                           explain a code in [brackets]");
  const Command program(*app, commands);
  add_run(program);
  add_repeat(program);
  add_exec(program);
  add_validate(program);
  add_search(program);
  add_map(program);
  add_watch(program);
  add_regulate(program);
  add_doctor(program);
  add_disturb(program);
  add_witness(program);
  add_report(program);
  add_info(program);
  add_compare(program);
  add_compose(program);
  add_recover(program);
  add_export(program);
  add_baselines(program);
  add_ledger(program);
  return app;
}

}  // namespace halcyon::cli
