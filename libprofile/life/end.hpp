// Where recording ends: at MPI_Finalize, or before MPI_Abort.
#pragma once

namespace halcyon {

/// Before MPI_Finalize. Never throws, never fails the application.
void end_recording() noexcept;

/// Before MPI_Abort: what is recorded is spilled.
void abort_recording() noexcept;

}  // namespace halcyon
