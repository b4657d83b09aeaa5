// With every communicator a boundary (HALCYON_BOUNDARY_RANKS=1) rank 1 meets two boundaries more than rank 0.
#include <mpi.h>

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_SELF);
  }
  MPI_Finalize();
  return 0;
}
