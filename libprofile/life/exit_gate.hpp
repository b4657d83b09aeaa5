// The end of a program without MPI_Finalize: the first thread that gets here saves the records, once.
#pragma once

#include "libprofile/record/store/tail.hpp"

namespace halcyon {

/// False in a child of vfork, which shares all memory.
bool is_the_recorded_process();
/// Whether there are records that are not yet in a file.
bool has_to_keep();

/// Whether to read the operating system's counters (/proc) once more, which is unsafe in a signal handler.
enum class LastLook : bool { taken, not_taken };

/// Spills the records and prints the run's last line. Async-signal-safe without the last look.
void leave(PartEnd end, LastLook look);

}  // namespace halcyon
