/* A program whose time and whose printed numbers follow from its arguments: STEPS (40) steps of so many milliseconds.
 *
 *   mpirun -np N steps MILLISECONDS [OTHER [STEPS]]
 *
 * It prints "cost: MILLISECONDS^2 + 10 OTHER", and fails with status 7 if MILLISECONDS is above 10.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 10 };

int main(int argc, char** argv) {
  const double milliseconds = argc > 1 ? atof(argv[1]) : 1.0;
  const double other = argc > 2 ? atof(argv[2]) : 0.0;
  const int steps = argc > 3 ? atoi(argv[3]) : 40;
  const struct timespec step = {0, (long)(milliseconds * 1e6)};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (milliseconds > MOST) {
    MPI_Finalize();
    return 7;
  }
  for (int i = 0; i < steps; ++i) {
    nanosleep(&step, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("cost: %g\n", milliseconds * milliseconds + 10.0 * other);
  MPI_Finalize();
  return 0;
}
