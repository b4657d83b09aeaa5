// Where recording begins: around MPI_Init.
#pragma once

#include <vector>

namespace halcyon {

/// Around MPI_Init*: what was there before it is the application's, what it starts is MPI's.
class StartingRun {
 public:
  StartingRun();
  /// MPI_Init* has succeeded: begins to record, in the thread that called it. Never throws, never fails the
  /// application.
  void started() const noexcept;

 private:
  std::vector<int> threads_before_;
};

}  // namespace halcyon
