// Which process prints a message, according to the launcher's environment.
#pragma once

#include <cstdlib>
#include <cstring>

namespace halcyon {

/// True on rank 0 according to the launcher's environment, and if there is no launcher: one rank's message is enough.
inline bool is_spokesman() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

/// True on the first rank of each host.
inline bool is_spokesman_of_host() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

}  // namespace halcyon
