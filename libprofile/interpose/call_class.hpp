// The classes of functions in mpi.table, posix.table and device.table.
#pragma once

#include <cstdint>

namespace halcyon {

enum class CallClass : std::uint8_t { p2p, rma, collective, management, mpiio, posixio, device, poll, local };

}  // namespace halcyon
