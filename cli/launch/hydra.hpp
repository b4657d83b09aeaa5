// How Hydra, MPICH's launcher, gives its ranks an environment.
#pragma once

#include <string>

#include "cli/launch/mpi_family.hpp"
#include "cli/launch/program.hpp"
#include "cli/launch/rank_environment.hpp"

namespace halcyon::cli {

/// mpirun -genv … [user's arguments]. Its -genv is for all programs of the job; an -env is for one program, and comes
/// before it.
Words with_global_environment(const Words& launch, const std::string& preload, const Environment& environment);

}  // namespace halcyon::cli
