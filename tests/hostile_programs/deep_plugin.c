// The plugin of deep.c.
#include <mpi.h>
#include <string.h>

void work(const char* who) {
  const int is_all = strcmp(who, "all") == 0;
  if (is_all) MPI_Init(NULL, NULL);
  for (int i = 0; i < 50; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (is_all || strcmp(who, "finalizes") == 0) MPI_Finalize();
}
