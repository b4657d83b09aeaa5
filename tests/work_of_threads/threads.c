// Steps of constant work in two threads of each rank. Some of them are delayed by a sleep, in one thread of each rank. The
// program keeps an account of its own: it writes what each step took of the CPU, without the spinning.
//
// usage: threads MODE STEPS MICROSECONDS EVERY DELAY_MS ACCOUNT
//   pool      a thread works beside the one that calls MPI, which spins until it is done; the worker is delayed
//   openmp    the same by OpenMP
//   turns     two threads work and end segments in turn, one sleeps meanwhile; both are delayed
//   both      two threads work and end segments at the same time, on communicators of their own; the first is delayed
//   helper    one thread works and calls MPI, another writes a line to a file each 3 ms; the first is delayed
//   ranks     one thread works and calls MPI; in each step, every second rank works twice as long; no step is delayed
// Each rank works MICROSECONDS in each thread and step. Every EVERYth step is delayed by DELAY_MS ms. ACCOUNT.RANK gets
// a line for each step: whether it was delayed, and its work: the least and the largest CPU time of the
// threads that worked, ns.
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "steady_work.h"

enum { most_steps = 100000 };

static int steps, every, delay_ms, rank;
static double microseconds;
static long long work_of[2][most_steps];

static int is_delayed(int step) { return every > 0 && step % every == every - 1; }

// A thread's part of a step.
static void work(int thread, int step, int delays) {
  const long long began = ns_of(CLOCK_THREAD_CPUTIME_ID);
  compute(microseconds * rounds_per_microsecond);
  if (delays && is_delayed(step)) rest(delay_ms);
  work_of[thread][step] = ns_of(CLOCK_THREAD_CPUTIME_ID) - began;
}

// -- pool

static sem_t begun;
static atomic_int done;

static void *work_in_pool(void *unused) {
  for (int step = 0; step < steps; ++step) {
    wait_for(&begun);
    work(1, step, 1);
    atomic_store(&done, step + 1);
  }
  return unused;
}

static void pool(void) {
  pthread_t worker;
  sem_init(&begun, 0, 0);
  pthread_create(&worker, NULL, work_in_pool, NULL);
  for (int step = 0; step < steps; ++step) {
    sem_post(&begun);
    work(0, step, 0);
    while (atomic_load(&done) <= step) {
    }
    end_step(MPI_COMM_WORLD, step);
  }
  pthread_join(worker, NULL);
}

// -- openmp

static void openmp(void) {
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel num_threads(2)
    work(omp_get_thread_num(), step, omp_get_thread_num() == 1);
    end_step(MPI_COMM_WORLD, step);
  }
}

// -- turns and both

static sem_t turn_of[2];

static void *work_in_turn(void *which) {
  const int me = *(int *)which;
  for (int step = me; step < steps; step += 2) {
    wait_for(&turn_of[me]);
    work(0, step, 1);
    end_step(MPI_COMM_WORLD, step);
    sem_post(&turn_of[1 - me]);
  }
  return NULL;
}

static MPI_Comm comm_of[2];

static void *work_alone(void *which) {
  const int me = *(int *)which;
  for (int step = 0; step < steps; ++step) {
    work(me, step, me == 0);
    end_step(comm_of[me], step);
  }
  return NULL;
}

// -- helper

static void with_helper(void) {
  pthread_t writer;
  double milliseconds = 3.0;
  pthread_create(&writer, NULL, write_log, &milliseconds);
  for (int step = 0; step < steps; ++step) {
    work(0, step, 1);
    end_step(MPI_COMM_WORLD, step);
  }
  atomic_store(&has_ended, 1);
  pthread_join(writer, NULL);
}

// -- ranks

static void unequal_ranks(void) {
  const double usual = microseconds;
  for (int step = 0; step < steps; ++step) {
    microseconds = usual * (1 + (step + rank) % 2);
    work(0, step, 0);
    end_step(MPI_COMM_WORLD, step);
  }
}

static void write_account(const char *name) {
  char file[4096];
  snprintf(file, sizeof file, "%s.%d", name, rank);
  FILE *account = fopen(file, "w");
  if (account == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int step = 0; step < steps; ++step) {
    const long long of[2] = {work_of[0][step], work_of[1][step]};
    const int first_is_less = of[1] == 0 || of[0] < of[1];
    fprintf(account, "%d %lld %lld\n", is_delayed(step), of[!first_is_less], of[of[1] > of[0]]);
  }
  fclose(account);
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  const char *mode = argv[1];
  steps = atoi(argv[2]);
  microseconds = atof(argv[3]);
  every = atoi(argv[4]);
  delay_ms = atoi(argv[5]);
  if (steps > most_steps) return 2;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 77);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  calibrate();
  if (strcmp(mode, "pool") == 0) {
    pool();
  } else if (strcmp(mode, "openmp") == 0) {
    openmp();
  } else if (strcmp(mode, "turns") == 0) {
    sem_init(&turn_of[0], 0, 1);
    sem_init(&turn_of[1], 0, 0);
    in_two_threads(work_in_turn);
  } else if (strcmp(mode, "both") == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[1]);
    in_two_threads(work_alone);
  } else if (strcmp(mode, "helper") == 0) {
    with_helper();
  } else if (strcmp(mode, "ranks") == 0) {
    unequal_ranks();
  }
  write_account(argv[6]);
  MPI_Finalize();
  return 0;
}
