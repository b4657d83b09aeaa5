/* Heat in a rod, one piece per rank: a very simple MPI program, and one of five that do the same work.
 *
 *   mpirun -np N halo_c [STEPS [FILE]]
 *
 * halo.c, halo_mpi.f90, halo_f08.f90, halo_mpif.f90 and halo.py make the same calls in the same order with the same
 * volumes, so all of them must have the same profile. If you change one, change all.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 1024, STRIP = 16 };

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  const char* file_name = argc > 2 ? argv[2] : "halo.dat";
  double rod[CELLS + 2], next[CELLS + 2], strip[STRIP];
  double change[1], change_left[1], largest[1], limit[1], heat[1], total[1];
  int rank, ranks;
  MPI_Request exchange[4], neighbours[2], sum;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int after = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  const int left = (rank + ranks - 1) % ranks;
  const int right = (rank + 1) % ranks;
  const MPI_Offset place = (MPI_Offset)rank * CELLS * (MPI_Offset)sizeof(double);

  for (int i = 0; i < CELLS + 2; ++i) rod[i] = next[i] = 0.0;
  if (rank == 0) rod[1] = 1000.0;
  limit[0] = 0.25;
  MPI_Recv_init(change_left, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &neighbours[0]);
  MPI_Send_init(change, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &neighbours[1]);

  for (int step = 1; step <= steps; ++step) {
    MPI_Irecv(&rod[0], 1, MPI_DOUBLE, before, 2, MPI_COMM_WORLD, &exchange[0]);
    MPI_Irecv(&rod[CELLS + 1], 1, MPI_DOUBLE, after, 3, MPI_COMM_WORLD, &exchange[1]);
    MPI_Isend(&rod[1], 1, MPI_DOUBLE, before, 3, MPI_COMM_WORLD, &exchange[2]);
    MPI_Isend(&rod[CELLS], 1, MPI_DOUBLE, after, 2, MPI_COMM_WORLD, &exchange[3]);
    MPI_Waitall(4, exchange, MPI_STATUSES_IGNORE);

    change[0] = 0.0;
    for (int i = 1; i <= CELLS; ++i) {
      next[i] = rod[i] + limit[0] * (rod[i - 1] - 2.0 * rod[i] + rod[i + 1]);
      change[0] = fmax(change[0], fabs(next[i] - rod[i]));
    }
    for (int i = 1; i <= CELLS; ++i) rod[i] = next[i];

    MPI_Startall(2, neighbours);
    MPI_Waitall(2, neighbours, MPI_STATUSES_IGNORE);
    MPI_Allreduce(change, largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);

    if (step % 5 == 0) {
      heat[0] = 0.0;
      for (int i = 1; i <= CELLS; ++i) heat[0] += rod[i];
      MPI_Iallreduce(heat, total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &sum);
      MPI_Wait(&sum, MPI_STATUS_IGNORE);
    }
    if (step % 10 == 0) {
      MPI_Sendrecv(&rod[1], STRIP, MPI_DOUBLE, right, 4, strip, STRIP, MPI_DOUBLE, left, 4, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      MPI_Bcast(limit, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      MPI_Reduce(heat, total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (step % 20 == 0) { /* a checkpoint, read back at once */
      MPI_File file;
      MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
      MPI_File_write_at_all(file, place, &rod[1], CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE);
      MPI_File_read_at_all(file, place, &next[1], CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE);
      MPI_File_close(&file);
    }
  }

  MPI_Request_free(&neighbours[0]);
  MPI_Request_free(&neighbours[1]);
  heat[0] = 0.0;
  for (int i = 1; i <= CELLS; ++i) heat[0] += rod[i];
  MPI_Allreduce(heat, total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("heat %.6f after %d steps\n", total[0], steps);
  MPI_Finalize();
  return 0;
}
