// Begins recording, around MPI_Init.
#pragma once

#include <vector>

namespace halcyon {

/// Lives around MPI_Init* or MPI_Session_init: threads from before are the application's, threads that they start are
/// MPI's.
class StartingRun {
 public:
  StartingRun();
  /// MPI_Init* has succeeded: begins to record, in the calling thread. Never throws, never fails the application.
  void started() const noexcept;
  /// MPI_Session_init has succeeded. False if the MPI library is none that can be recorded, which is then said.
  bool session_opened() const noexcept;

 private:
  bool finds_mpi() const;

  std::vector<int> threads_before_;
};

/// Begins to record a program without MPI_Init, whose processes are those of `mpi.comm_world`.
void start_within_sessions() noexcept;

}  // namespace halcyon
