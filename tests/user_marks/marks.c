// marks HOW [BARRIERS]: meets so many barriers, and then has 40 steps, in which ranks send to the next, that end so:
//   all          MPI_Pcontrol(1) on all ranks
//   levels       levels -1, 0, 1 and 2 by turns
//   seldom       MPI_Pcontrol(1) on rank 0 alone, in the first four steps
//   barrier      MPI_Pcontrol(1), and a barrier
// Prints what MPI_Pcontrol has returned in all.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 40 };

static int rank, ranks;

static void exchange(void) {
  int out = rank, in = 0;
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 0, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  int returned = 0;
  const char *how = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; argc > 2 && i < atoi(argv[2]); ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < STEPS; ++step) {
    exchange();
    if (strcmp(how, "all") == 0) returned += MPI_Pcontrol(1, "step", step, 2.5);
    if (strcmp(how, "levels") == 0) returned += MPI_Pcontrol(step % 4 - 1);
    if (strcmp(how, "seldom") == 0 && rank == 0 && step < 4) returned += MPI_Pcontrol(1);
    if (strcmp(how, "barrier") == 0) returned += MPI_Pcontrol(1), MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%d\n", returned);
  MPI_Finalize();
  return 0;
}
