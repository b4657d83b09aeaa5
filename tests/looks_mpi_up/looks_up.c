// looks_up HOW LIBRARY: opens the MPI library and looks its functions up; it is not linked with any. With -DLINKED it
// is, and uses functions of both kinds by turns.
//   local, global, deep: dlopen with this flag, dlsym with the handle
//   default, next, self: dlopen with RTLD_GLOBAL, dlsym with RTLD_DEFAULT, RTLD_NEXT, or the handle of the program
//   pmpi: as local, by the names PMPI_…
//   made: as local; the Allreduce is called from code that the program has made, as Julia does
// LIBRARY may be a plugin that is linked with MPI. Prints, on rank 0, the sum of its exchanges, and whether both kinds
// have the same address.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 50 };

static const char* how;
static void* handle;

static void fail(const char* why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}

static int is(const char* word) { return strcmp(how, word) == 0; }

static void* look_up(const char* name) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%s", is("pmpi") ? "P" : "", name);
  void* const symbol = dlsym(handle, whole);
  if (symbol == NULL) fail(dlerror());
  return symbol;
}

// A function that calls this one, which has no more arguments than are passed in registers.
static void* code_that_calls(void* function) {
#if defined(__x86_64__)
  unsigned char code[] = {0x48, 0x83, 0xec, 8,                 // sub $8, %rsp
                          0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,  // mov $function, %rax
                          0xff, 0xd0,                          // call *%rax
                          0x48, 0x83, 0xc4, 8, 0xc3};          // add $8, %rsp; ret
  memcpy(code + 6, &function, sizeof function);
  void* const made = mmap(NULL, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) fail("no memory for code");
  memcpy(made, code, sizeof code);
  mprotect(made, sizeof code, PROT_READ | PROT_EXEC);
  return made;
#else
  return function;
#endif
}

#define LOOK_UP(name) __typeof__(&name) name##_of_library = (__typeof__(&name))look_up(#name)
#ifdef OPEN_MPI  // whose handles are addresses
#define HANDLE(type, symbol, constant) ((type)dlsym(library, symbol))
#else
#define HANDLE(type, symbol, constant) (constant)
#endif

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  how = argv[1];
  const int is_global = is("global") || is("default") || is("next") || is("self");
  const int flags = RTLD_LAZY | (is_global ? RTLD_GLOBAL : RTLD_LOCAL) | (is("deep") ? RTLD_DEEPBIND : 0);
  void* const library = dlopen(argv[2], flags);
  if (library == NULL) fail(dlerror());
  handle = is("default") ? RTLD_DEFAULT : is("next") ? RTLD_NEXT : is("self") ? dlopen(NULL, RTLD_LAZY) : library;
  LOOK_UP(MPI_Init);
  LOOK_UP(MPI_Comm_rank);
  LOOK_UP(MPI_Comm_size);
  LOOK_UP(MPI_Allreduce);
  LOOK_UP(MPI_Sendrecv);
  LOOK_UP(MPI_Finalize);
  int is_linked = 0;
  if (is("made")) MPI_Allreduce_of_library = (__typeof__(&MPI_Allreduce))code_that_calls((void*)MPI_Allreduce_of_library);
  const MPI_Comm world = HANDLE(MPI_Comm, "ompi_mpi_comm_world", MPI_COMM_WORLD);
  const MPI_Datatype whole = HANDLE(MPI_Datatype, "ompi_mpi_int", MPI_INT);
  const MPI_Op sum = HANDLE(MPI_Op, "ompi_mpi_op_sum", MPI_SUM);
  MPI_Init_of_library(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank_of_library(world, &rank);
  MPI_Comm_size_of_library(world, &size);
  int value = rank + 1;
  for (int i = 0; i < ROUNDS; ++i) {
    __typeof__(&MPI_Allreduce) reduce = MPI_Allreduce_of_library;
#ifdef LINKED
    is_linked = dlsym(library, "MPI_Allreduce") == (void*)&MPI_Allreduce;
    if (i % 2 != 0) reduce = &MPI_Allreduce;
#endif
    int all = 0;
    int other = 0;
    reduce(&value, &all, 1, whole, sum, world);
    MPI_Sendrecv_of_library(&all, 1, whole, (rank + 1) % size, 0, &other, 1, whole, (rank + size - 1) % size, 0, world,
                            MPI_STATUS_IGNORE);
    value = (all + other) % 1000;
  }
  if (rank == 0) printf("sum %d%s\n", value, is_linked ? ", and the function that is linked is the one looked up" : "");
  fflush(stdout);
  MPI_Finalize_of_library();
  return 0;
}
