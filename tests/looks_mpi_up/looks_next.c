// As a library (-DLIBRARY): has a function that goes on to MPI's, which its constructor has found by RTLD_NEXT.
// As a program, which is linked with MPI: looks_next [LIBRARY] calls that function, of the library that is preloaded, or
// of this one, which it opens.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef int Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

#ifdef LIBRARY
static Allreduce* next;

__attribute__((constructor)) static void find(void) { next = (Allreduce*)dlsym(RTLD_NEXT, "MPI_Allreduce"); }

Allreduce* reduces(void) { return next; }
#else
enum { ROUNDS = 50 };

int main(int argc, char** argv) {
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : RTLD_DEFAULT;
  Allreduce* (*const reduces)(void) = (Allreduce * (*)(void)) dlsym(library, "reduces");
  Allreduce* const reduce = reduces();
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int value = rank + 1;
  for (int i = 0; i < ROUNDS && reduce != NULL; ++i) {
    int sum = 0;
    reduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    value = sum % 1000;
  }
  if (rank == 0) printf(reduce != NULL ? "sum %d\n" : "there is no next one\n", value);
  MPI_Finalize();
  return 0;
}
#endif
