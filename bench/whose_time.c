// Steps whose work is done by unequal ranks, by other threads, or with sleeps of the program's own, and an account of
// what it lost to others. bench/whose_time.py compares Halcyon with that.
//
// usage: whose_time KIND STEPS MICROSECONDS DELAYED MILLISECONDS SEED
//   equal     each rank does the same
//   random    each rank and step has work between 0.4 and 1.6 of the usual
//   phases    30 to 80 steps as usual, then as many with 1.5 times the work, and so on
//   static    rank 0 has 1.8 times the work of the others
//   rotating  one rank after the other has 1.6 times the work
//   rare      rank 0 has three times the work in each 15th step
//   sleeps    rank 0 sleeps by itself, 15 ms in each 40th step
//   pool      a thread works beside the one that calls MPI, which spins until it is done
//   blocked   the same, but the thread that calls MPI works first, and then sleeps until the other is done
//   openmp    two threads of OpenMP
//   uneven    the same, with work between 0.4 and 1.6 of the usual for each thread and step
//   shared    two threads of OpenMP take pieces of a step as they go (schedule(dynamic))
//   fine      ten regions of OpenMP in a step, each of them short
//   helper    another thread writes a line to a file each 5 ms
//   turns     two threads work and end segments in turn
//   both      two threads work and end segments at the same time, on communicators of their own
//   device    a device of OpenCL works, and the thread that calls MPI waits for it in clFinish
//   polled    the same, but the thread asks again and again whether the device is done
//   sizes     as device, with four times as many work items in one of 20 steps
//   looping   as device, where a kernel goes round its loop four times as often in one of 20 steps
// Of 100 steps, DELAYED have a delay of MILLISECONDS, of one thread of one rank. The last line of the output is: which
// percentage of the time of the steps was lost, and that time, s. What is not lost is what the thread that had most
// took on the CPU, and slept by itself; on a device, what as much work took before the steps.
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../tests/work_of_threads/steady_work.h"
#ifdef HAS_OPENCL
#include "../tests/device_time/kernels.h"
run_step by_finish, by_event;
extern int times_round_loop;
#endif

enum { most_steps = 20000, threads = 2 };

static const char* kind;
static int steps, delayed_of_100, rank, ranks;
static double microseconds, milliseconds;
static double own[threads][most_steps];   // s of each thread: its work, and its own sleeps
static double took[threads][most_steps];  // s, from the first thread's begin of the step to its end

static double now(clockid_t clock) { return 1e-9 * (double)ns_of(clock); }

// A number between 0 and 1 that follows from these alone (splitmix64), so that all ranks know those of the others.
static uint64_t seed;
static double chance(uint64_t step, uint64_t which) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + step * 0xbf58476d1ce4e5b9u + which * 0x94d049bb133111ebu;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}
static int is(const char* name) { return strcmp(kind, name) == 0; }

static char is_long_phase[most_steps];
static void plan_phases(void) {
  int at = 0;
  for (uint64_t phase = 0; at < steps; ++phase) {
    const int length = 30 + (int)(51.0 * chance(phase, 1000));
    for (int i = 0; i < length && at < steps; ++i) is_long_phase[at++] = phase % 2 == 1;
  }
}

static double share_of_work(int step, int thread) {
  if (is("random")) return 0.4 + 1.2 * chance((uint64_t)step, (uint64_t)rank);
  if (is("uneven")) return 0.4 + 1.2 * chance((uint64_t)step, (uint64_t)(rank * threads + thread));
  if (is("phases")) return is_long_phase[step] ? 1.5 : 1.0;
  if (is("static")) return rank == 0 ? 1.8 : 1.0;
  if (is("rotating")) return step % ranks == rank ? 1.6 : 1.0;
  if (is("sizes") || is("looping")) return step % 20 == 7 ? 4.0 : 1.0;
  if (is("rare")) return rank == 0 && step % 15 == 7 ? 3.0 : 1.0;
  return 1.0;
}

// One of this rank's `of` threads does its part of a step.
static void work(int thread, int step, int of) {
  const double began = now(CLOCK_THREAD_CPUTIME_ID);
  compute(share_of_work(step, thread) * microseconds * rounds_per_microsecond);
  const int is_delayed = chance((uint64_t)step, 2000) < 0.01 * delayed_of_100;
  const int who = (int)(chance((uint64_t)step, 2001) * ranks * of);
  if (is_delayed && who == rank * of + thread % of) rest(milliseconds);
  own[thread][step] = now(CLOCK_THREAD_CPUTIME_ID) - began;
  if (is("sleeps") && rank == 0 && step % 40 == 39) {
    const double slept = 0.015;
    rest(1e3 * slept);
    own[thread][step] += slept;
  }
}

// One piece of a step, in whichever thread takes it.
static void work_on_piece(int thread, int step, int piece, int pieces, int of_thread) {
  const double began = now(CLOCK_THREAD_CPUTIME_ID);
  compute(microseconds * rounds_per_microsecond / of_thread);
  const int is_delayed = chance((uint64_t)step, 2000) < 0.01 * delayed_of_100;
  if (is_delayed && (int)(chance((uint64_t)step, 2001) * ranks * pieces) == rank * pieces + piece) rest(milliseconds);
  own[thread][step] += now(CLOCK_THREAD_CPUTIME_ID) - began;
}
static void share_out(int step) {
  enum { pieces = 32 };
#pragma omp parallel for num_threads(2) schedule(dynamic)
  for (int piece = 0; piece < pieces; ++piece)
    work_on_piece(omp_get_thread_num(), step, piece, pieces, pieces / threads);
  own[0][step] = own[1][step] = 0.5 * (own[0][step] + own[1][step]);
}
static void in_short_regions(int step) {
  enum { regions = 10 };
  for (int region = 0; region < regions; ++region) {
#pragma omp parallel num_threads(2)
    {
      const int thread = omp_get_thread_num();
      work_on_piece(thread, step, threads * region + thread, threads * regions, regions);
    }
  }
}

static sem_t begun, done;
static atomic_int steps_done;
static void* work_beside(void* unused) {
  for (int step = 0; step < steps; ++step) {
    wait_for(&begun);
    work(1, step, 2);
    atomic_store(&steps_done, step + 1);
    sem_post(&done);
  }
  return unused;
}

static int is_on_device(void) { return is("device") || is("polled") || is("sizes") || is("looping"); }
#ifdef HAS_OPENCL
static unsigned long long items_of_step = 256;
static double seconds_of_step;  // undisturbed, on the device
static void run_on_device(double share) {
  const int is_looping = is("looping");
  const struct steps_on_device what = {is_looping ? items_of_step : (unsigned long long)(share * (double)items_of_step),
                                       4096};
  times_round_loop = is_looping ? (int)(2000 * share) : 2000;
  if ((is("polled") ? by_event(what) : by_finish(what)) != 0) MPI_Abort(MPI_COMM_WORLD, 77);
}
static int ascending(const void* a, const void* b) {
  return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}
// The lower quartile: what others take from a step makes it longer.
static double usual_step(void) {
  enum { tries = 100 };
  double seconds[tries];
  for (int i = 0; i < tries; ++i) {
    const double began = now(CLOCK_MONOTONIC);
    run_on_device(1.0);
    seconds[i] = now(CLOCK_MONOTONIC) - began;
  }
  qsort(seconds, tries, sizeof *seconds, ascending);
  return seconds[tries / 4];
}
// How many items take as long as a step is to take. What a device's threads used of the CPU is known too late.
static void calibrate_device(void) {
  run_on_device(1.0);
  items_of_step = (unsigned long long)(1e-6 * microseconds / usual_step() * (double)items_of_step);
  MPI_Bcast(&items_of_step, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  seconds_of_step = usual_step();
  MPI_Allreduce(MPI_IN_PLACE, &seconds_of_step, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
}
static void work_on_device(int step) {
  run_on_device(share_of_work(step, 0));
  if (chance((uint64_t)step, 2000) < 0.01 * delayed_of_100 && (int)(chance((uint64_t)step, 2001) * ranks) == rank) {
    rest(milliseconds);
  }
  own[0][step] = share_of_work(step, 0) * seconds_of_step;
}
#else
static void calibrate_device(void) { MPI_Abort(MPI_COMM_WORLD, 77); }
static void work_on_device(int step) { (void)step; }
#endif

static void step_of_one_thread(int step) {
  if (is_on_device()) {
    work_on_device(step);
    return;
  }
  if (is("shared")) {
    share_out(step);
  } else if (is("fine")) {
    in_short_regions(step);
  } else if (is("openmp") || is("uneven")) {
#pragma omp parallel num_threads(2)
    work(omp_get_thread_num(), step, 2);
  } else if (is("pool") || is("blocked")) {
    sem_post(&begun);
    work(0, step, 2);
    while (is("pool") && atomic_load(&steps_done) <= step) {
    }
    wait_for(&done);
  } else {
    work(0, step, 1);
  }
}

static void all_steps(void) {
  for (int step = 0; step < steps; ++step) {
    const double began = now(CLOCK_MONOTONIC);
    step_of_one_thread(step);
    end_step(MPI_COMM_WORLD, step);
    took[0][step] = now(CLOCK_MONOTONIC) - began;
  }
}

static sem_t turn_of[threads];
static MPI_Comm comm_of[threads];
static void* work_in_turn(void* which) {
  const int me = *(int*)which;
  for (int step = me; step < steps; step += threads) {
    wait_for(&turn_of[me]);
    const double began = now(CLOCK_MONOTONIC);
    work(0, step, 1);
    end_step(MPI_COMM_WORLD, step);
    took[0][step] = now(CLOCK_MONOTONIC) - began;
    sem_post(&turn_of[1 - me]);
  }
  return NULL;
}
static void* work_alone(void* which) {
  const int me = *(int*)which;
  for (int step = 0; step < steps; ++step) {
    const double began = now(CLOCK_MONOTONIC);
    work(me, step, 2);
    end_step(comm_of[me], step);
    took[me][step] = now(CLOCK_MONOTONIC) - began;
  }
  return NULL;
}

static void beside(void* (*body)(void*)) {
  pthread_t other;
  double milliseconds_of_log = 5.0;
  pthread_create(&other, NULL, body, &milliseconds_of_log);
  all_steps();
  atomic_store(&has_ended, 1);
  pthread_join(other, NULL);
}

// Where both threads end steps, each has its own account, and the one that took longer counts.
static void print_account(void) {
  double least_lost = 0.0, longest = 0.0;
  for (int thread = 0; thread < (is("both") ? threads : 1); ++thread) {
    double lost = 0.0, seconds = 0.0;
    for (int step = 0; step < steps; ++step) {
      double of_rank = own[thread][step];
      if (!is("both") && own[1][step] > of_rank) of_rank = own[1][step];
      double most = 0.0;
      MPI_Reduce(&of_rank, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      seconds += took[thread][step];
      if (took[thread][step] > most) lost += took[thread][step] - most;
    }
    if (seconds > longest) least_lost = lost, longest = seconds;
  }
  if (rank == 0) printf("%.3f %.3f\n", 100.0 * least_lost / longest, longest);
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  kind = argv[1];
  steps = atoi(argv[2]);
  microseconds = atof(argv[3]);
  delayed_of_100 = atoi(argv[4]);
  milliseconds = atof(argv[5]);
  seed = (uint64_t)atoi(argv[6]);
  if (steps < 1 || steps > most_steps) return 2;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 77);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  calibrate();
  plan_phases();
  setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);  // the device's threads
  if (is_on_device()) calibrate_device();
  sem_init(&begun, 0, 0);
  sem_init(&done, 0, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (is("turns")) {
    sem_init(&turn_of[0], 0, 1);
    sem_init(&turn_of[1], 0, 0);
    in_two_threads(work_in_turn);
  } else if (is("both")) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[1]);
    in_two_threads(work_alone);
  } else if (is("pool") || is("blocked")) {
    beside(work_beside);
  } else if (is("helper")) {
    beside(write_log);
  } else {
    all_steps();
  }
  print_account();
  MPI_Finalize();
  return 0;
}
