// spawns PARENTS CHILDREN PARENT_END CHILD_END [COMM [VARIABLES]]: meets so many barriers, spawns two children that meet so many
// barriers of their own world, and has one barrier with them. COMM says who spawns: world (the default), or self, which
// is rank 0 alone. VARIABLES is a line of the environment that Open MPI 5 is told to pass on to the children, and they
// say their MINE. Then rank 0 of the parents, and of the children, ends so (and the others wait for it):
//   finalize | disconnect (and finalize) | abort | signal:N
// All ranks of a world that ends by `wait` do so for the other world, and for ever.
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { children = 2 };

static void barriers(long count, int sends) {
  int nothing = 0;
  for (long i = 0; i < count; ++i) {
    for (int send = 0; send < sends; ++send) MPI_Send(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void meet(MPI_Comm others, int is_child) {
  MPI_Comm all;
  int sum = 0, one = 1;
  MPI_Barrier(others);  // of an intercommunicator
  MPI_Intercomm_merge(others, is_child, &all);
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
}

static void end(const char* how, int rank, MPI_Comm others) {
  if (strcmp(how, "disconnect") == 0 && others != MPI_COMM_NULL) MPI_Comm_disconnect(&others);
  if (strcmp(how, "wait") == 0) MPI_Barrier(others);
  if (rank == 0) {
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 9);
    if (strncmp(how, "signal:", 7) == 0) syscall(SYS_kill, getpid(), atoi(how + 7));  // as by another process
  } else if (strcmp(how, "finalize") != 0 && strcmp(how, "disconnect") != 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Comm others = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&others);
  if (others != MPI_COMM_NULL) {
    if (argc > 6 && rank == 0) printf("children have %s\n", getenv("MINE") != NULL ? getenv("MINE") : "nothing");
    fflush(stdout);
    barriers(atol(argv[2]), 2);
    meet(others, 1);
    end(argv[4], rank, others);
    return 0;
  }
  const int by_rank_0 = argc > 5 && strcmp(argv[5], "self") == 0;
  barriers(atol(argv[1]), 1);
  if (!by_rank_0 || rank == 0) {
    MPI_Info info = MPI_INFO_NULL;
    if (argc > 6) {
      MPI_Info_create(&info);
      MPI_Info_set(info, "PMIX_ENVAR", argv[6]);
    }
    MPI_Comm_spawn(argv[0], argv + 1, children, info, 0, by_rank_0 ? MPI_COMM_SELF : MPI_COMM_WORLD, &others,
                   MPI_ERRCODES_IGNORE);
    meet(others, 0);
  }
  barriers(1, 1);
  if (rank == 0) printf("parents met %ld\n", atol(argv[1]));
  fflush(stdout);
  end(argv[3], rank, others);
  return 0;
}
