// goes_on SECONDS: says "ready", and meets barriers until it reads a line, and for so many seconds more.
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank = 0, ends = 0;
  double end = 0.0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 1000; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    puts("ready");
    fflush(stdout);
  }
  while (!ends) {
    if (rank == 0) {
      struct pollfd line = {0, POLLIN, 0};
      if (end == 0.0 && poll(&line, 1, 0) > 0) end = MPI_Wtime() + atof(argv[1]);
      ends = end != 0.0 && MPI_Wtime() >= end;
    }
    MPI_Bcast(&ends, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  if (rank == 0) puts("ended");
  return 0;
}
