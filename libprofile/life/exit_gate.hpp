// Where a program ends without MPI_Finalize: what is recorded is kept before it does, once, whoever comes first.
#pragma once

#include "libprofile/record/store/tail.hpp"

namespace halcyon {

/// Not in a child of vfork, which shares all memory.
bool is_the_recorded_process();
/// Whether there is anything recorded that no file has.
bool has_to_keep();

/// Whether the operating system is asked once more what it has counted. Not in a signal's handler, where that is
/// unsafe.
enum class LastLook : bool { taken, not_taken };

/// What is recorded is spilled, and the run's last line is said. Async-signal-safe, but for a last look.
void leave(PartEnd end, LastLook look);

/// A program of MPI sessions alone is told at its end that it was not recorded.
void note_session();

}  // namespace halcyon
