// Who speaks where MPI cannot be asked which rank this is.
#pragma once

#include <cstdlib>
#include <cstring>

namespace halcyon {

/// True on rank 0 as the launcher tells it, or where no launcher does: one rank's word is enough.
inline bool is_spokesman() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

}  // namespace halcyon
