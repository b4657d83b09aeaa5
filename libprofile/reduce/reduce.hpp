// Makes one profile out of the records of all ranks, inside MPI_Finalize.
#pragma once

namespace halcyon {

class Recorder;

/// Merges the ranks' segments, and lets rank 0 write the file; collective over the world. Throws only if memory runs
/// out or the MPI library fails. If the file cannot be written, rank 0 says so in one line.
void reduce_and_write(Recorder& run);

}  // namespace halcyon
