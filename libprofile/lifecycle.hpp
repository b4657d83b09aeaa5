// The life of a recorded run: what happens around MPI_Init and MPI_Finalize, and where a program ends without it.
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

/// Before MPI_Finalize. Never throws, never fails the application.
void end_recording() noexcept;

/// Before MPI_Abort: what is recorded is spilled.
void abort_recording() noexcept;

/// MPI_Session_init has succeeded. Said at the program's end if it never called MPI_Init.
void session_begins() noexcept;

}  // namespace halcyon
