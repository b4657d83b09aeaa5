// The classes of functions in mpi.table and posix.table.
#pragma once

#include <cstdint>

namespace halcyon {

enum class CallClass : std::uint8_t { p2p, rma, collective, management, mpiio, posixio, poll, local };

}  // namespace halcyon
