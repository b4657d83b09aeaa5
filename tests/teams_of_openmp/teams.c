// Runs the steps of a plugin, and keeps an account of what each thread did.
//
// usage: teams PLUGIN STEPS MICROSECONDS EVERY DELAY_MS FUNCTION ACCOUNT
// Each thread works MICROSECONDS in a step, times its share. Every EVERYth step is delayed by DELAY_MS ms. ACCOUNT.RANK
// gets a line for each step: whether it was delayed, and the CPU time of each thread, ns. Where FUNCTION is "around",
// and no thread of the team is in a region of its own, lines are complete all the same: only the team's threads write
// them.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../work_of_threads/steady_work.h"
#include "steps.h"

enum { most_steps = 10000 };

static double microseconds;
static int delay_ms;
static int step_now;
static long long work_of[most_steps][threads];
static char is_delayed[most_steps];

static void part(int thread, double share, int delayed) {
  const long long began = ns_of(CLOCK_THREAD_CPUTIME_ID);
  compute(share * microseconds * rounds_per_microsecond);
  if (delayed) rest(delay_ms);
  work_of[step_now][thread] += ns_of(CLOCK_THREAD_CPUTIME_ID) - began;
}
static void end_of_step(void) { end_step(MPI_COMM_WORLD, step_now++); }

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  const int steps = atoi(argv[2]);
  microseconds = atof(argv[3]);
  const int every = atoi(argv[4]);
  delay_ms = atoi(argv[5]);
  if (steps > most_steps) return 2;
  for (int step = 0; step < steps; ++step) is_delayed[step] = step % every == every - 1;
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  run_steps* run = (run_steps*)dlsym(plugin, argv[6]);
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  calibrate();
  MPI_Barrier(MPI_COMM_WORLD);
  const struct work work = {part, end_of_step};
  run(&work, steps, is_delayed);
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", argv[7], rank);
  FILE* account = fopen(name, "w");
  for (int step = 0; step < steps; ++step) {
    fprintf(account, "%d %lld %lld\n", is_delayed[step], work_of[step][0], work_of[step][1]);
  }
  fclose(account);
  MPI_Finalize();
  return 0;
}
