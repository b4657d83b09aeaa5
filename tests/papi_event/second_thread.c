/* A thread that MPI_Init has not seen does all the work and ends all segments. */
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

static void *work(void *unused) {
  (void)unused;
  volatile double sum = 0;
  for (int step = 0; step < 20; ++step) {
    for (int i = 0; i < 1000000; ++i) sum += i;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
