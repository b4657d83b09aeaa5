// recurs HOW [BARRIERS]: meets so many barriers, and then has 200 steps of at least 0.3 ms, without a collective:
//   halo         each rank exchanges with its neighbours by requests; the first and the last rank have one
//   pipeline     each rank receives from the one before and sends to the one behind
//   nested       ten exchanges in a row, and then one from another place
//   alternating  exchanges from two places in turn
//   polling      as pipeline, but polls for each message, by an unknown number of calls
//   master       rank 0 gives out tasks, of which the others do unequal numbers
//   unlike       rank 0 sends to itself in each step; the others make no calls
//   threads      as halo, while a thread of each rank spins
//   exits        as halo, and then all ranks exit without MPI_Finalize
//   regions      no calls at all, but a region of OpenMP
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 200, IN_A_ROW = 10 };

static int rank, ranks;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void work(void) {
  for (const double until = seconds() + 3e-4; seconds() < until;) continue;
}

static int before(void) { return rank > 0 ? rank - 1 : MPI_PROC_NULL; }
static int behind(void) { return rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL; }

static void halo(void) {
  MPI_Request requests[4];
  int out = rank, in[2], count = 0;
  const int neighbours[2] = {before(), behind()};
  for (int side = 0; side < 2; ++side) {
    if (neighbours[side] == MPI_PROC_NULL) continue;
    MPI_Irecv(&in[side], 1, MPI_INT, neighbours[side], 0, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(&out, 1, MPI_INT, neighbours[side], 0, MPI_COMM_WORLD, &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void pipeline(int polls) {
  int value = 0, is_there = !polls || rank == 0;
  while (!is_there) MPI_Iprobe(rank - 1, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  if (rank > 0) MPI_Recv(&value, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work();
  if (rank + 1 < ranks) MPI_Send(&value, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

static void exchange(void) {
  int out = rank, in = 0;
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 0, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void nested(void) {
  for (int i = 0; i < IN_A_ROW; ++i) exchange();
  work();
  int out = rank, in = 0;
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 1, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void alternating(int step) {
  int out = rank, in = 0;
  work();
  if (step % 2 == 0) {
    exchange();
  } else {
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 1, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void master(void) {
  if (rank == 0) {
    for (int task = 0; task < STEPS * (ranks - 1); ++task) {
      int done = 0;
      MPI_Recv(&done, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return;
  }
  // The second does more, for each task more that the last does less.
  const int more = rank == 1 ? STEPS / 4 : rank == ranks - 1 ? -STEPS / 4 : 0;
  for (int task = 0; task < STEPS + (ranks > 2 ? more : 0); ++task) {
    work();
    MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
}

static void unlike(void) {
  int out = rank, in = 0;
  work();
  if (rank > 0) return;
  MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static volatile int is_over;

static void* spin(void* nothing) {
  while (!is_over) continue;
  return nothing;
}

static void region(void) {
#pragma omp parallel
  { work(); }
}

int main(int argc, char** argv) {
  const char* how = argv[1];
  pthread_t spinning;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; argc > 2 && i < atoi(argv[2]); ++i) MPI_Barrier(MPI_COMM_WORLD);
  const int has_thread = strcmp(how, "threads") == 0;
  if (has_thread) pthread_create(&spinning, NULL, spin, NULL);
  if (strcmp(how, "master") == 0) master();
  for (int step = 0; step < STEPS; ++step) {
    if (strcmp(how, "halo") == 0 || strcmp(how, "exits") == 0 || has_thread) work(), halo();
    if (strcmp(how, "pipeline") == 0) pipeline(0);
    if (strcmp(how, "polling") == 0) pipeline(1);
    if (strcmp(how, "nested") == 0) nested();
    if (strcmp(how, "alternating") == 0) alternating(step);
    if (strcmp(how, "unlike") == 0) unlike();
    if (strcmp(how, "regions") == 0) region();
  }
  is_over = 1;
  if (has_thread) pthread_join(spinning, NULL);
  if (strcmp(how, "exits") == 0) exit(1);
  MPI_Finalize();
  return 0;
}
