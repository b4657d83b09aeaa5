// 300 boundaries from as many places, then all of them and an allreduce once more.
#include <mpi.h>

#define BARRIER MPI_Barrier(MPI_COMM_WORLD);
#define TEN BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER BARRIER
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void barriers(void) { HUNDRED HUNDRED HUNDRED }

int main(int argc, char** argv) {
  int one = 1;
  int all = 0;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 2; ++i) {
    barriers();
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
