// phases STARTUP STEPS [FROM TO]: prepares itself for about STARTUP s, and then has equal steps of 4 ms, each with an
// allreduce. From step FROM on, up to step TO, rank 1 takes 1.6 times as long: it sleeps longer, and works no more.
// Prints the times, in s since MPI_Init, at which the steps began, the slow ones began and ended, and all had ended.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double began;
static const double step_seconds = 4e-3;

static void wait_for(double seconds) {
  struct timespec left = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&left, NULL);
}

static void print_time(int rank, const char* what) {
  if (rank == 0) printf("%s %.6f\n", what, MPI_Wtime() - began);
}

// Each of its synchronisations is at another place, as where a program reads its input and makes its grid.
static void prepare(double seconds) {
  double value = 1.0, sum;
  wait_for(0.2 * seconds);
  MPI_Barrier(MPI_COMM_WORLD);
  wait_for(0.3 * seconds);
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  wait_for(0.5 * seconds);
  MPI_Allreduce(&sum, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank;
  double value = 1.0, sum;
  MPI_Init(&argc, &argv);
  began = MPI_Wtime();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int steps = atoi(argv[2]);
  const int from = argc > 3 ? atoi(argv[3]) : steps;
  const int to = argc > 4 ? atoi(argv[4]) : steps;
  prepare(atof(argv[1]));
  print_time(rank, "startup");
  for (int step = 0; step < steps; ++step) {
    if (step == from) print_time(rank, "from");
    if (step == to) print_time(rank, "to");
    wait_for(rank == 1 && step >= from && step < to ? 1.6 * step_seconds : step_seconds);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (from < steps && to == steps) print_time(rank, "to");
  print_time(rank, "end");
  MPI_Finalize();
  return 0;
}
