// Steps that a device does, and an account of them.
//
// usage: kernels STEPS ITEMS BYTES PLUGIN STEP [late]
// Each step copies BYTES to the device and runs ITEMS work items there. STEP is the function of PLUGIN, a library, that
// does one. `late`: the plugin is opened after MPI_Init, as one that nothing else may use. Prints the seconds that the
// thread spent in the steps, and those of them on the CPU.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static run_step* open_plugin(const char* plugin, const char* step) {
  void* const library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  run_step* const run = library != NULL ? (run_step*)dlsym(library, step) : NULL;
  if (run == NULL) fprintf(stderr, "kernels: %s\n", dlerror());
  return run;
}

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const int steps = atoi(argv[1]);
  const struct steps_on_device what = {strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10)};
  const int is_late = argc > 6 && strcmp(argv[6], "late") == 0;
  run_step* run = is_late ? NULL : open_plugin(argv[4], argv[5]);
  MPI_Init(&argc, &argv);
  if (is_late) run = open_plugin(argv[4], argv[5]);
  if (run == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  double seconds = 0.0, on_cpu = 0.0;
  for (int step = 0; step < steps; ++step) {
    const double began = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    if (run(what) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
    seconds += now(CLOCK_MONOTONIC) - began;
    on_cpu += now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%.6f %.6f\n", seconds, on_cpu);
  MPI_Finalize();
  return 0;
}
