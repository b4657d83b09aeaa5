// An error handler that throws: each failed call is left by an exception, and caught where the program goes on.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

namespace {

void fail(MPI_Comm*, int*, ...) { throw std::runtime_error("an MPI call has failed"); }

void send_to(int destination) {
  char nothing = 0;
  MPI_Send(&nothing, 1, MPI_CHAR, destination, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int times = 30;
  constexpr int nobody = 1000;
  int caught = 0;
  MPI_Errhandler own{};
  MPI_Init(&argc, &argv);
  MPI_Comm_create_errhandler(fail, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  for (int i = 0; i < times; ++i) {
    try {
      send_to(nobody);
    } catch (const std::runtime_error&) {
      ++caught;
    }
    send_to(MPI_PROC_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::printf("%d caught\n", caught);
  MPI_Errhandler_free(&own);
  MPI_Finalize();
}
