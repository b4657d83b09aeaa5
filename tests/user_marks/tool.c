// Somebody else's tool that is spoken to by MPI_Pcontrol: prints what it is told on rank 0 at the step 3.
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

int MPI_Pcontrol(const int level, ...) {
  va_list arguments;
  va_start(arguments, level);
  const char *name = va_arg(arguments, const char *);
  const int step = va_arg(arguments, int);
  const double weight = va_arg(arguments, double);
  va_end(arguments);
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && step == 3) printf("%d %s %d %g\n", level, name, step, weight), fflush(stdout);
  return MPI_SUCCESS;
}
