// From what each rank recorded to one profile: the work done inside MPI_Finalize.
#pragma once

namespace halcyon {

class Recorder;

/// Merges the ranks' segments and has rank 0 write the file; collective over the world. Throws only where memory or the
/// MPI library fail; what cannot be written is said in one line by rank 0.
void reduce_and_write(Recorder& run);

}  // namespace halcyon
