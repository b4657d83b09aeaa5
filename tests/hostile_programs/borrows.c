// A program at a fixed address: it has a copy of MPI's variables, and the address of a function that it passes on is
// its own.
#include <mpi.h>
#include <stdio.h>

static double (*volatile now)(void) = MPI_Wtime;
static int (*volatile meet)(MPI_Comm) = MPI_Barrier;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double began = now();
  for (int i = 0; i < 10; ++i) meet(MPI_COMM_WORLD);
#ifdef MPI_ABI_VERSION  // the standard ABI has no such variables
  void* volatile ignored = NULL;
#else
  void* volatile ignored = MPI_F_STATUS_IGNORE;
#endif
  if (now() < began && ignored != NULL) puts("the clock runs backwards");
  MPI_Finalize();
  return 0;
}
