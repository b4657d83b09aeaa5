// Somebody else's PMPI tool, as small as they come: counts Allreduce and says so at the end, on rank 0. MPI_Pcontrol
// with level 0 halts it.
#include <mpi.h>
#include <stdio.h>

static int calls;
static int is_halted;

int MPI_Pcontrol(const int level, ...) {
  is_halted = level == 0;
  return MPI_SUCCESS;
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  calls += !is_halted;
  return PMPI_Allreduce(in, out, count, type, operation, comm);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("tool: %d\n", calls);
  fflush(stdout);
  return PMPI_Finalize();
}
