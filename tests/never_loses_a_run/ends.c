// A library that is preloaded behind the recorder: its destructor calls MPI_Finalize, as one of an object does that
// stands for MPI.
#include <mpi.h>

static __attribute__((destructor)) void end(void) {
  int is_initialized = 0, is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_initialized && !is_finalized) MPI_Finalize();
}
