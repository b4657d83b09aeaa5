// Begins recording, around MPI_Init.
#pragma once

#include <vector>

namespace halcyon {

/// Lives around MPI_Init*: threads from before are the application's, threads that MPI_Init* starts are MPI's.
class StartingRun {
 public:
  StartingRun();
  /// MPI_Init* has succeeded: begins to record, in the calling thread. Never throws, never fails the application.
  void started() const noexcept;

 private:
  std::vector<int> threads_before_;
};

}  // namespace halcyon
