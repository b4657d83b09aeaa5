// Thirty Allreduce, ten of them while tools are asked to halt.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 30; ++i) {
    int one = 1, sum = 0;
    if (i == 10) MPI_Pcontrol(0);
    if (i == 20) MPI_Pcontrol(1);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
