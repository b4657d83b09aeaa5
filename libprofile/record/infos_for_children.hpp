// What MPI is told of the processes that MPI_Comm_spawn starts, so that these are recorded as their parents are.
#pragma once

#include <vector>

#include "libprofile/interpose/mpi_runtime.hpp"

namespace halcyon {

/// For the root of a spawn: the program's infos, one for each command. Open MPI 5 starts children without the variables
/// that mpirun -x has set; for it these are copies, to which the variables are added. Lives as long as the call.
class InfosForChildren {
 public:
  InfosForChildren(int count, const MPI_Info* given) noexcept;
  ~InfosForChildren();
  InfosForChildren(const InfosForChildren&) = delete;
  InfosForChildren& operator=(const InfosForChildren&) = delete;

  const MPI_Info* infos() const { return are_recorded_ && !copies_.empty() ? copies_.data() : given_; }
  /// Whether MPI starts all of them with the recorder.
  bool are_recorded() const { return are_recorded_; }

 private:
  const MPI_Info* given_;
  std::vector<MPI_Info> copies_;
  bool are_recorded_ = true;
};

}  // namespace halcyon
