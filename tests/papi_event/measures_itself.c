// Measures its own work by PAPI: an event set of the component that the recorder is asked to use, too.
#include <mpi.h>
#include <papi.h>
#include <sde_lib.h>
#include <stdio.h>

int main(int argc, char** argv) {
  static long long units = 0;
  long long measured = -1;
  int events = PAPI_NULL;
  papi_sde_register_counter(papi_sde_init("Work"), "units", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &units);
  MPI_Init(&argc, &argv);
  if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) puts("PAPI does not start");
  PAPI_create_eventset(&events);
  PAPI_add_named_event(events, "sde:::Work::units");
  const int started = PAPI_start(events);
  for (int i = 0; i < 50; ++i) {
    units += 1000;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const int stopped = PAPI_stop(events, &measured);
  printf("%s, %s: %lld\n", PAPI_strerror(started), PAPI_strerror(stopped), measured);
  MPI_Finalize();
  return 0;
}
