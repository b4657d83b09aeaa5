// How Slurm's srun gives its ranks an environment, and which MPI library they have.
#pragma once

#include <string>

#include "cli/launch/mpi_family.hpp"
#include "cli/launch/program.hpp"
#include "cli/launch/rank_environment.hpp"

namespace halcyon::cli {

/// srun --export=… [user's options] program : … A variable exported with a value does not replace one in srun's own
/// environment, and each program has its own list.
Words with_export_lists(const Words& launch, const std::string& preload, const Environment& environment);

/// Decided by the programs of a srun command; if they are scripts, by the interface that srun gives the ranks.
MpiFamily family_under_srun(const Words& launch);

}  // namespace halcyon::cli
