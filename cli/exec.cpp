// halcyon exec: runs in a rank, under any launcher, and becomes the program with the recorder preloaded.
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/launch/mpi_family.hpp"
#include "cli/launch/program.hpp"
#include "cli/launch/rank_options.hpp"

namespace halcyon::cli {

void add_exec(const Command& program) {
  const Command command = program.subcommand("exec", "Start one rank with recording, under any launcher");
  auto options = std::make_shared<RankOptions>();
  add_rank_options(command, *options);
  command.notes(
      "Put the program after '--'.\n"
      "The recorder is the one for the MPI library that the program is linked with, or that mpi4py opens. For a "
      "script,\n"
      "it is MPICH's if the launcher sets PMI_RANK and neither OMPI_COMM_WORLD_RANK nor PMIX_RANK, else Open MPI's.\n"
      "Exit status: that of the program.\n"
      "Example: srun -n 64 halcyon exec -o run.h5 -- ./app input");
  command.starts([options](const Words& words) {
    if (words.empty()) return fail("no program given: halcyon exec [OPTIONS] -- PROGRAM [ARGUMENTS]");
    if (const std::string obstacle = why_not_into(words.front()); !obstacle.empty())
      return fail(obstacle + ": start it without halcyon");
    const std::optional<MpiLibrary> library = mpi_of_program(words.front());
    const Outcome<std::string> preload =
        fitting_preload_list(family_of_rank(library), !options->inject.empty(), library);
    if (!preload) return fail(preload.failure().message);
    for (const auto& [name, value] : rank_environment(*options)) setenv(name.c_str(), value.c_str(), 1);
    const std::string all =
        joined_preload(joined_preload(*preload, outer_preload()), sanitizer_of_program(words.front()));
    setenv("LD_PRELOAD", all.c_str(), 1);
    return fail(execute(words).message);
  });
}

}  // namespace halcyon::cli
