// endless BARRIERS: meets so many barriers, says "ready", and goes on until it is ended.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (long i = 0; i < atol(argv[1]); ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    puts("ready");
    fflush(stdout);
  }
  for (;;) MPI_Barrier(MPI_COMM_WORLD);
}
