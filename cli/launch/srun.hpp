// How Slurm's srun gives its ranks an environment, and which MPI library they have.
#pragma once

#include <string>

#include "cli/launch/mpi_family.hpp"
#include "cli/launch/program.hpp"
#include "cli/launch/rank_environment.hpp"

namespace halcyon::cli {

/// srun --export=… [user's options] program : … What is exported with a value does not replace what stands in srun's
/// own environment, and each program has its own list.
Words with_export_lists(const Words& launch, const std::string& preload, const Environment& environment);

/// The programs of a srun command tell; where they are scripts, the interface that srun gives the ranks does.
MpiFamily family_under_srun(const Words& launch);

}  // namespace halcyon::cli
