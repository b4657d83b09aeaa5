// A program that only uses MPI sessions: it has no MPI_COMM_WORLD, and no MPI_Init and MPI_Finalize around the run.
//
// Recording begins with the first communicator of all processes, and ends with the last open session. Making that
// communicator is collective, so the recorder can also make its own. It needs one to merge the records.
#pragma once

#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/life/start.hpp"

namespace halcyon {

/// MPI_Session_init has succeeded.
void session_began(const StartingRun& run, MPI_Session session) noexcept;
/// MPI_Comm_create_from_group has succeeded.
void made_without_parent(MPI_Comm comm) noexcept;
/// MPI_Session_finalize is about to be called.
void session_ends() noexcept;

/// For the last line of a program that has used sessions: why it has no profile. Empty if it has used none.
const char* why_sessions_have_no_profile() noexcept;

}  // namespace halcyon
