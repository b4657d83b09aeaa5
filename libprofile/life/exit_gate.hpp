// Saves the records where the process may end without MPI_Finalize. All is async-signal-safe.
#pragma once

#include <cstddef>

#include "libprofile/record/store/tail.hpp"

namespace halcyon {

/// False in a child of vfork, which shares all memory.
bool is_the_recorded_process();
/// Whether there are records that are not yet in a file.
bool has_to_keep();

/// Spills the records and prints the run's last line: the process is about to end. The first thread that gets here
/// does, once. Before it returns, the other ranks on this host have saved their records, too: some launchers kill them
/// at once.
void leave(PartEnd end);
/// The same by a function that ends the process: MPI calls them, too, when it gives up.
void leave_by_exit();

/// Spills the records as they are. The process may go on, and records further segments then.
void save(PartEnd end);

/// The process may be about to end: the same, and has the other ranks on this host save theirs, too.
void save_with_others(PartEnd end);
/// Another program is about to take the place of this one: the same, and says what becomes of the records.
void leave_to_another_program();

/// Something in the process, and not the program, writes these bytes: perhaps MPI asks its launcher to end the job.
void note_inner_write(const void* data, std::size_t bytes);

}  // namespace halcyon
