// Makes one profile out of the records of all ranks, inside MPI_Finalize.
#pragma once

namespace halcyon {

class Recorder;

/// Merges the ranks' segments, and lets rank 0 write the file; collective over the world. Throws only if memory runs
/// out or the MPI library fails. If the file cannot be written, rank 0 says so in one line. A rank without records has
/// saved them for the last time, because it was about to end: then all ranks leave parts.
void reduce_and_write(Recorder& run, bool has_records);

}  // namespace halcyon
