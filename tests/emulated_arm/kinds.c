// kinds STEPS HOW: three kinds of work in turn, 1, 2 and 4 times 200000 turns of a loop of two instructions. HOW:
//   alone | beside (another thread turns the loop all the time) | thread (another thread does the work and the calls)
//   | twice (each step has a second part, of 1000 turns, and a second barrier)
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static long steps;
static int has_second_part;
static atomic_int ended;

static void turn(long turns) { __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc"); }

static void* work(void* unused) {
  for (long step = 0; step < steps; ++step) {
    turn(200000L << step % 3);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!has_second_part) continue;
    turn(1000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return unused;
}

static void* turn_until_ended(void* unused) {
  while (!ended) turn(1000);
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  steps = atol(argv[1]);
  has_second_part = strcmp(argv[2], "twice") == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  pthread_t other = pthread_self();
  if (strcmp(argv[2], "beside") == 0) pthread_create(&other, NULL, turn_until_ended, NULL);
  if (strcmp(argv[2], "thread") == 0) {
    pthread_create(&other, NULL, work, NULL);
  } else {
    work(NULL);
  }
  ended = 1;
  if (!pthread_equal(other, pthread_self())) pthread_join(other, NULL);
  MPI_Finalize();
  return 0;
}
