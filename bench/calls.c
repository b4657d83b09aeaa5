// calls send|segments|poll|poll-30ns N: prints the time of single calls as one line of JSON. bench/performance.py runs it with and
// without libhalcyon.so; the difference is the cost of recording.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static long resident_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// The least of several repetitions, since delays by the machine are not a cost of the call.
static double least_ns(int repetitions, long count, void (*call)(void)) {
  double least = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    const double began = seconds();
    for (long at = 0; at < count; ++at) call();
    const double took = (seconds() - began) / (double)count * 1e9;
    if (took < least) least = took;
  }
  return least;
}

static void send_to_nobody(void) {
  int nothing = 0;
  MPI_Send(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static MPI_Request never_complete;

static void poll_for_nothing(void) {
  int is_complete = 0;
  MPI_Test(&never_complete, &is_complete, MPI_STATUS_IGNORE);
}

// As HPCC's MPIRandomAccess does between two updates of its table.
static void work_and_poll(void) {
  for (int i = 0; i < 100; ++i) __asm__ volatile("" ::: "memory");
  poll_for_nothing();
}

// The work differs from segment to segment, so that each has its own value to be quantized. The barrier is over this
// rank only, which ends a segment with HALCYON_BOUNDARY_RANKS=1: no rank waits, so many ranks can run on few
// processors.
static void segment(void) {
  static unsigned random = 1;
  random = random * 1664525u + 1013904223u;
  for (unsigned i = 0; i < random >> 24; ++i) __asm__ volatile("" ::: "memory");
  MPI_Barrier(MPI_COMM_SELF);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long count = atol(argv[2]);
  double ns = 0.0;
  const long resident = resident_kib();
  if (strcmp(argv[1], "send") == 0) ns = least_ns(10, count / 10, send_to_nobody);
  if (strncmp(argv[1], "poll", 4) == 0) {
    int received = 0;
    MPI_Irecv(&received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &never_complete);
    ns = least_ns(10, count / 10, strcmp(argv[1], "poll") == 0 ? poll_for_nothing : work_and_poll);
    MPI_Cancel(&never_complete);
    MPI_Request_free(&never_complete);
  }
  if (strcmp(argv[1], "segments") == 0) ns = least_ns(10, count / 10, segment);
  const long grown = resident_kib() - resident;
  MPI_Barrier(MPI_COMM_WORLD);
  const double finalizing = seconds();
  MPI_Finalize();
  const double finalize_seconds = seconds() - finalizing;
  if (rank == 0) {
    printf("{\"ns\": %.2f, \"grown_kib\": %ld, \"finalize_seconds\": %.4f, \"finalize_kib\": %ld}\n", ns, grown,
           finalize_seconds, resident_kib() - resident - grown);
  }
  return 0;
}
