// Ends recording: at MPI_Finalize, or before MPI_Abort.
#pragma once

namespace halcyon {

/// Called before MPI_Finalize. Never throws, never fails the application.
void end_recording() noexcept;

/// Called before MPI_Abort: spills the records.
void abort_recording() noexcept;

}  // namespace halcyon
