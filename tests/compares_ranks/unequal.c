// One rank does FACTOR times the work of the others in each step. With a fifth argument, all ranks end without
// MPI_Finalize.
#include <stdlib.h>
#include <unistd.h>

#include "../work_of_threads/steady_work.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int steps = atoi(argv[1]);
  const double microseconds = atof(argv[2]) * (rank == atoi(argv[4]) ? atof(argv[3]) : 1.0);
  // By the CPU clock: the ratio of the work is then exact, however fast each core is.
  for (int step = 0; step < steps; ++step) {
    const long long began = ns_of(CLOCK_THREAD_CPUTIME_ID);
    while (ns_of(CLOCK_THREAD_CPUTIME_ID) - began < (long long)(1e3 * microseconds)) compute(2000.0);
    end_step(MPI_COMM_WORLD, step);
  }
  if (argc > 5) _exit(0);
  MPI_Finalize();
  return 0;
}
