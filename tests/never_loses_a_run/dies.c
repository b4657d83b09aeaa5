// dies BARRIERS HOW [RANK]: meets so many barriers, segment i with i % 3 sends, and then the rank (or all) ends so:
//   finalize | abort | exit | return | segv | signal:N | child:N (a forked child, then finalize) |
//   quota:N (its files may have N bytes, then finalize) | writing (finalize, after telling its children the rank's
//   process in DIES_PROCESS) | closes (all files above those of the MPI library, then finalize) | merging:N (a signal
//   comes in MPI_Finalize, where the rank waits for the others, which never come) | deadlock (the rank waits for a
//   message that nobody sends, after three boundaries to which it came last)
// Where BARRIERS is a path, barriers are met until there is such a file or directory, with a rest before each, so that
// those who look at the run get a processor.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void segment(long i) {
  int nothing = 0;
  for (long send = 0; send < i % 3; ++send) MPI_Send(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void until_there(const char* path, int rank) {
  const struct timespec rest = {.tv_nsec = 200000};
  struct stat state;
  for (long i = 0, there = 0; !there; ++i) {
    nanosleep(&rest, NULL);
    segment(i);
    if (i % 100 != 0) continue;
    if (rank == 0) there = stat(path, &state) == 0;
    MPI_Bcast(&there, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  }
}

static void signal_soon(int number) {
  const struct itimerspec soon = {.it_value = {.tv_nsec = 200000000}};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &soon, NULL);
}

// Longer than the time between two looks of the recorder, so that readers of the run see each of them.
static void come_late(int is_late) {
  const struct timespec late = {.tv_nsec = 200000000};
  for (int i = 0; i < 3; ++i) {
    if (is_late) nanosleep(&late, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// What a rank does alone, before it goes on with the others.
static int goes_on(const char* how) {
  return strncmp(how, "quota:", 6) == 0 || strcmp(how, "writing") == 0 || strcmp(how, "closes") == 0;
}

static void limit_files_to(long bytes) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strncmp(argv[2], "quota:", 6) == 0 && atoi(argv[3]) == rank) limit_files_to(atol(argv[2] + 6));
  if (argv[1][0] == '/') {
    until_there(argv[1], rank);
  } else {
    for (long i = 0; i < atol(argv[1]); ++i) segment(i);
  }
  const char* how = argv[2];
  if (strcmp(how, "deadlock") == 0) come_late(atoi(argv[3]) == rank);
  if (argc < 4 || atoi(argv[3]) == rank) {
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(how, "exit") == 0) exit(7);
    if (strcmp(how, "return") == 0) return 0;
    if (strcmp(how, "segv") == 0) *(volatile int*)0 = 1;
    if (strncmp(how, "signal:", 7) == 0) raise(atoi(how + 7));
    if (strncmp(how, "merging:", 8) == 0) signal_soon(atoi(how + 8));
    if (strcmp(how, "writing") == 0) {
      char process[20];
      snprintf(process, sizeof process, "%d", (int)getpid());
      setenv("DIES_PROCESS", process, 1);
    }
    if (strcmp(how, "deadlock") == 0) {
      int message = 0;
      MPI_Recv(&message, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(how, "closes") == 0) {
      for (int file = 512; file < 1024; ++file) close(file);
    }
    if (strncmp(how, "child:", 6) == 0) {
      const pid_t child = fork();
      if (child == 0) raise(atoi(how + 6));
      waitpid(child, NULL, 0);
    }
  } else if (strncmp(how, "merging:", 8) == 0) {
    for (;;) pause();
  } else if (!goes_on(how)) {
    MPI_Barrier(MPI_COMM_WORLD);  // waits for who does not come
  }
  MPI_Finalize();
  return 0;
}
