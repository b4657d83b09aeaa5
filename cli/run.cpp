// halcyon run: the recorder in the ranks of a launch command, and the verdict when it is over.
#include <memory>

#include "cli/commands.hpp"
#include "cli/run_and_report.hpp"
#include "cli/running/view_beside.hpp"

namespace halcyon::cli {

void add_run(const Command& program) {
  const Command command = program.subcommand("run", "Profile a run of an MPI program, and give the verdict");
  auto options = std::make_shared<RunOptions>();
  auto is_watched = std::make_shared<bool>(false);
  auto is_silent = std::make_shared<bool>(false);
  add_run_options(command, *options);
  command.flag("--watch", *is_watched, "While the program runs, show the view of halcyon watch on standard error");
  command.flag("--no-progress", *is_silent,
               "Do not tell what is recorded, whether the host is busy, and how the run goes");
  command.notes(
      "Put the launch command after '--'.\n"
      "Exit status: that of the program.\n"
      "Examples:\n"
      "  halcyon run -- mpirun -np 4 ./app input\n"
      "  halcyon run -- srun -n 4 ./app input\n"
      "  halcyon run -o noisy.h5 --inject class=all,prob=0.0003,mean=50ms,sd=5ms -- mpirun -np 2 ./app");
  command.starts([options, is_watched, is_silent](const Words& launch) {
    if (launch.empty()) return fail("no launch command given: halcyon run [OPTIONS] -- mpirun -np 4 ./app");
    options->tells_first = !*is_silent;
    const Beside line = *is_silent || options->ranks.live == "off" ? Beside() : Beside(show_line_beside);
    return run_and_report(*options, launch, *is_watched ? Beside(show_view_beside) : line);
  });
}

}  // namespace halcyon::cli
