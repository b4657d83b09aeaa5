// Publishes its work as a software-defined event (libsde), exact by definition: segment i does 1000 * (i % 5 + 1) units
// between boundaries, and adds as many inside a user-defined reduction, which runs inside MPI and must not be counted.
#include <mpi.h>
#include <sde_lib.h>

static long long units = 0;

static void reduce_at_a_cost(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  units += 777;
  for (int i = 0; i < *count; ++i) ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv) {
  papi_handle_t library = papi_sde_init("Work");
  papi_sde_register_counter(library, "units", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &units);
  MPI_Init(&argc, &argv);
  MPI_Op operation;
  MPI_Op_create(reduce_at_a_cost, 1, &operation);
  for (int i = 0; i < 50; ++i) {
    int one = 1, sum = 0;
    units += 1000 * (i % 5 + 1);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, operation, MPI_COMM_WORLD);
  }
  MPI_Op_free(&operation);
  MPI_Finalize();
  return 0;
}
