// Somebody else's tool that counts Allreduce, and finds the function to go on with as LOOKS says:
//   next: dlsym(RTLD_NEXT, "MPI_Allreduce")
//   handle, pmpi: dlsym in the MPI library that it has opened, by the name of MPI or of PMPI
//   answers: none of these; it has no function of MPI, but answers dlsym itself, as GOTCHA does
// It says at the end how many there were, in the order of the ranks' ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

static int calls;
static Allreduce* next;

__attribute__((destructor)) static void tell(void) {
  if (calls > 0) fprintf(stderr, "tool: %d\n", calls);
}

#ifdef ANSWERS
typedef void* Dlsym(void*, const char*);

static int counted(const void* in, void* out, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  ++calls;
  return next(in, out, count, type, operation, comm);
}

void* dlsym(void* handle, const char* name) {
#ifdef __x86_64__
  Dlsym* const of_libc = (Dlsym*)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
#else
  Dlsym* const of_libc = (Dlsym*)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
#endif
  static Dlsym* behind;
  if (behind == NULL) behind = (Dlsym*)of_libc(RTLD_NEXT, "dlsym");
  if (handle != RTLD_NEXT && handle != RTLD_DEFAULT && strcmp(name, "MPI_Allreduce") == 0) {
    next = (Allreduce*)behind(handle, name);
    return next != NULL ? (void*)&counted : NULL;
  }
  return behind(handle, name);
}
#else
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  if (next == NULL) {
    const char* const how = getenv("LOOKS");
    if (strcmp(how, "next") == 0) {
      next = (Allreduce*)dlsym(RTLD_NEXT, "MPI_Allreduce");
    } else {
      void* const library = dlopen(getenv("MPI_LIBRARY"), RTLD_LAZY);
      next = (Allreduce*)dlsym(library, strcmp(how, "pmpi") == 0 ? "PMPI_Allreduce" : "MPI_Allreduce");
    }
  }
  ++calls;
  return next(in, out, count, type, operation, comm);
}
#endif
