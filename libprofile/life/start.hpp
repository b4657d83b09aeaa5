// Begins recording, around MPI_Init.
#pragma once

#include <vector>

namespace halcyon {

/// The recorder, as its file is called for the first MPI family.
inline constexpr char own_tool[] = "libhalcyon";

/// Lives around MPI_Init* or MPI_Session_init: earlier threads belong to the application, threads started inside belong
/// to MPI.
class StartingRun {
 public:
  StartingRun() noexcept;
  /// MPI_Init* has succeeded: begins to record, in the calling thread. Never throws, never fails the application.
  void started() const noexcept;
  /// MPI_Session_init has succeeded. True if a record can begin within sessions: none has begun, and this MPI library
  /// can be recorded (a message says if not).
  bool session_opened() const noexcept;

 private:
  bool finds_mpi() const;
  bool looks_for_mpi() const;

  std::vector<int> threads_before_;
};

/// Begins to record a program without MPI_Init. Its processes are those of `mpi.comm_world`.
void start_within_sessions() noexcept;

}  // namespace halcyon
