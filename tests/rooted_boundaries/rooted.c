// Ten rounds of what its first argument says: collectives with a root that are a global synchronisation together, or are
// not. With a second it exits without MPI_Finalize.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10 };

static int rank, ranks;
static int one = 1, sum, many[64], counts[64], places[64];
static MPI_Comm world, reversed, half;

static void reduce(int root, MPI_Comm comm) { MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, comm); }
static void bcast(int root, MPI_Comm comm) { MPI_Bcast(&sum, 1, MPI_INT, root, comm); }
static void gather(int root, MPI_Comm comm) { MPI_Gather(&one, 1, MPI_INT, many, 1, MPI_INT, root, comm); }
static void gatherv(int root) { MPI_Gatherv(&one, 1, MPI_INT, many, counts, places, MPI_INT, root, world); }
static void scatter(int root) { MPI_Scatter(many, 1, MPI_INT, &one, 1, MPI_INT, root, world); }
static void scatterv(int root) { MPI_Scatterv(many, counts, places, MPI_INT, &one, 1, MPI_INT, root, world); }

// What only some ranks do lies between the halves of a pair.
static void tell_the_last(void) {
  if (rank == 0) MPI_Send(&one, 1, MPI_INT, ranks - 1, 0, world);
  if (rank == ranks - 1) MPI_Recv(&sum, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
}

static void wait_for(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

static void round_of(const char *what) {
  const int last = ranks - 1;
  MPI_Request request;
  if (strcmp(what, "reduce-bcast") == 0) reduce(0, world), bcast(0, world);
  if (strcmp(what, "gather-scatter") == 0) gather(last, world), scatter(last);
  if (strcmp(what, "gatherv-scatterv") == 0) gatherv(1), scatterv(1);
  if (strcmp(what, "two-then-two") == 0) gather(0, world), reduce(0, world), bcast(0, world), bcast(0, world);
  if (strcmp(what, "messages-between") == 0) reduce(0, world), tell_the_last(), bcast(0, world);
  if (strcmp(what, "another-handle") == 0) reduce(0, world), bcast(last, reversed);
  if (strcmp(what, "ibcast") == 0) {
    reduce(0, world);
    MPI_Ibcast(&sum, 1, MPI_INT, 0, world, &request);
    wait_for(request);
  }
  if (strcmp(what, "another-root") == 0) reduce(0, world), bcast(last, world);
  if (strcmp(what, "the-same-number-elsewhere") == 0) reduce(0, world), bcast(0, reversed);
  if (strcmp(what, "bcast-alone") == 0) bcast(0, world);
  if (strcmp(what, "bcast-first") == 0) bcast(0, world), reduce(last, world);
  if (strcmp(what, "over-half") == 0) reduce(0, half), bcast(0, half);
  if (strcmp(what, "reduce-over-half") == 0) reduce(0, half), bcast(0, world);
  if (strcmp(what, "ireduce") == 0) {
    MPI_Ireduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, world, &request);
    wait_for(request);
    bcast(0, world);
  }
  if (strcmp(what, "barrier-between") == 0) reduce(0, world), MPI_Barrier(world), bcast(0, world);
  if (strcmp(what, "both") == 0) reduce(0, world), bcast(0, world), MPI_Barrier(world);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  world = MPI_COMM_WORLD;
  MPI_Comm_split(world, 0, ranks - rank, &reversed);
  MPI_Comm_split(world, rank % 2, rank, &half);
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = i;
  for (int round = 0; argc > 1 && round < ROUNDS; ++round) round_of(argv[1]);
  if (argc > 2) exit(9);  // without MPI_Finalize
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
