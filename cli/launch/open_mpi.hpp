// How Open MPI's mpirun gives its ranks an environment.
#pragma once

#include <string>

#include "cli/launch/mpi_family.hpp"
#include "cli/launch/program.hpp"
#include "cli/launch/rank_environment.hpp"

namespace halcyon::cli {

/// mpirun -x … [user's arguments] : -x … [the next program's arguments]: each program of an MPMD job has its own -x
/// list. Their values are in mpirun's own environment, except for LD_PRELOAD. Programs of an --app file are put into
/// the command line.
Words with_exports(const Words& launch, const std::string& preload, const Environment& environment);

}  // namespace halcyon::cli
