/* parallel_hdf5 SEGMENTS COLUMNS FILE: writes columns of floats with the chunks and filters of a profile, by parallel
   HDF5 from several ranks, or by plain HDF5 from one. Prints the number of ranks, and the seconds from opening the file
   to closing it without those for making up the numbers. */
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { chunk_elements = 16384, deflate_level = 1 }; /* as in libprofile/format/profile_writer.cpp */

static void make_up(float* durations, size_t count) {
  for (size_t i = 0; i < count; ++i) durations[i] = 1e-3f * (1.0f + 0.05f * sqrtf(-2.0f * logf((float)drand48() + 1e-9f)));
}

static void write_column(hid_t file, int column, hsize_t segments, int rank, int ranks, const float* share) {
  const hsize_t first = segments / ranks * rank;
  const hsize_t count = (rank + 1 == ranks ? segments : segments / ranks * (rank + 1)) - first;
  const hsize_t chunk = chunk_elements;
  char name[32];
  snprintf(name, sizeof name, "column_%d", column);
  const hid_t all = H5Screate_simple(1, &segments, NULL);
  const hid_t mine = H5Screate_simple(1, &count, NULL);
  H5Sselect_hyperslab(all, H5S_SELECT_SET, &first, NULL, &count, NULL);
  const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(layout, 1, &chunk);
  H5Pset_shuffle(layout);
  H5Pset_deflate(layout, deflate_level);
  const hid_t data = H5Dcreate2(file, name, H5T_NATIVE_FLOAT, all, H5P_DEFAULT, layout, H5P_DEFAULT);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  if (ranks > 1) H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  if (H5Dwrite(data, H5T_NATIVE_FLOAT, mine, all, transfer, share) < 0) MPI_Abort(MPI_COMM_WORLD, 1);
  H5Pclose(transfer);
  H5Dclose(data);
  H5Pclose(layout);
  H5Sclose(mine);
  H5Sclose(all);
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4) {
    fputs("usage: parallel_hdf5 SEGMENTS COLUMNS FILE\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const hsize_t segments = strtoull(argv[1], NULL, 10);
  const size_t share = segments / ranks + ranks;
  float* durations = malloc(share * sizeof *durations);
  srand48(rank);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (ranks > 1) H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  double began = MPI_Wtime(), seconds = 0.0;
  const hid_t file = H5Fcreate(argv[3], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  for (int column = 0; column < atoi(argv[2]); ++column) {
    seconds += MPI_Wtime() - began;
    make_up(durations, share);
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    write_column(file, column, segments, rank, ranks, durations);
  }
  H5Fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
  seconds += MPI_Wtime() - began;
  if (rank == 0) printf("%d %.3f\n", ranks, seconds);
  H5Pclose(access);
  free(durations);
  MPI_Finalize();
  return 0;
}
