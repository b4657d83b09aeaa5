// checked well|overflow: meets barriers, writes a file, and then may write behind a piece of memory.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  char name[] = "written-XXXXXX";
  FILE* file = fdopen(mkstemp(name), "w");
  fwrite(name, 1, sizeof name, file);
  fclose(file);
  remove(name);
  // Volatile, or the compiler would warn of the overflow, or leave it out.
  volatile size_t size = sizeof name;
  volatile char* memory = malloc(size);
  if (argc > 1 && strcmp(argv[1], "overflow") == 0) size *= 2;
  for (size_t i = 0; i < size; ++i) memory[i] = 0;
  free((void*)memory);
  MPI_Finalize();
  return 0;
}
