/* program [LIBRARY]: begins and ends MPI, with this second MPI library in the process. */
#include <dlfcn.h>
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);

int main(int argc, char **argv) {
  if (argc > 1 && dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == NULL) return 1;
  MPI_Init(&argc, &argv);
  puts("runs");
  return MPI_Finalize();
}
