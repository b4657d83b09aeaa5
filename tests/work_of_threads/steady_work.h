// What programs with an account of their own need: work of a known length, clocks, rests, and a thread beside.
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static double rounds_per_microsecond;
static volatile double sink;

static inline long long ns_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline void compute(double rounds) {
  double x = 1.0;
  for (long i = 0; i < (long)rounds; ++i) x = x * 0.999 + 0.1;
  sink = x;
}

// The least time of several, as other processes only add to it. All ranks do the same work.
static inline void calibrate(void) {
  const double rounds = 200000.0;
  long long least = 0;
  for (int i = 0; i < 50; ++i) {
    const long long began = ns_of(CLOCK_THREAD_CPUTIME_ID);
    compute(rounds);
    const long long took = ns_of(CLOCK_THREAD_CPUTIME_ID) - began;
    if (least == 0 || took < least) least = took;
  }
  rounds_per_microsecond = 1000.0 * rounds / (double)least;
  MPI_Bcast(&rounds_per_microsecond, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static inline void rest(double milliseconds) {
  const long long ns = (long long)(1e6 * milliseconds);
  const struct timespec time = {ns / 1000000000LL, ns % 1000000000LL};
  nanosleep(&time, NULL);
}

static inline void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) {
  }
}

static inline void end_step(MPI_Comm comm, int step) {
  int sum = step;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
}

// A thread that acts by the clock, beside those that work.
static atomic_int has_ended;
static inline void* write_log(void* milliseconds) {
  FILE* log = tmpfile();
  while (!atomic_load(&has_ended)) {
    fprintf(log, "it still runs\n");
    fflush(log);
    rest(*(double*)milliseconds);
  }
  fclose(log);
  return NULL;
}

// `body(&0)` in this thread, and `body(&1)` beside it.
static inline void in_two_threads(void* (*body)(void*)) {
  static int first = 0, second = 1;
  pthread_t other;
  pthread_create(&other, NULL, body, &second);
  body(&first);
  pthread_join(other, NULL);
}
