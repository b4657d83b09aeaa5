// joins: rank 0 opens a port and rank 1 connects to it, each for itself alone. They meet five times in the communicator
// of the two, and part; before and after all ranks meet ten times.
#include <mpi.h>
#include <stdio.h>

static void barriers(void) {
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, one = 1, sum = 0;
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm other, both;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  barriers();
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
  if (rank == 1) MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
  if (rank < 2) {
    MPI_Intercomm_merge(other, rank, &both);
    for (int i = 0; i < 5; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&other);
  }
  barriers();
  if (rank == 0) printf("%d\n", sum);
  MPI_Finalize();
  return 0;
}
