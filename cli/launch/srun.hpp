// How Slurm's srun gives its ranks an environment, which programs it starts, and which MPI library they have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/launch/mpi_family.hpp"
#include "cli/launch/program.hpp"
#include "cli/launch/rank_environment.hpp"

namespace halcyon::cli {

/// srun --export=… [user's options] program : … A variable exported with a value does not replace one in srun's own
/// environment, and each program has its own list.
Words with_export_lists(const Words& launch, const std::string& preload, const Environment& environment);

bool is_srun(const Words& launch);

/// The programs of the command, those of its --multi-prog files included, each with its arguments.
std::vector<Words> programs_of_srun(const Words& launch);

/// The first --multi-prog file.
std::optional<std::string> multi_prog_file(const Words& launch);

/// Decided by the interface that srun gives the ranks, for programs that do not show their library.
MpiFamily family_of_srun(const Words& launch);

}  // namespace halcyon::cli
