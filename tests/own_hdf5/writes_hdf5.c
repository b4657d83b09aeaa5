// writes_hdf5 FILE: a data set of 100 rows by parallel HDF5, a row at a time by all ranks together, then read back and
// summed. The HDF5 is another build than the recorder's.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

enum { rows = 100, each = 1000 };

static void transfer(hid_t file, int rank, int ranks, int write, double* sum) {
  const hsize_t all[2] = {rows, (hsize_t)ranks * each}, block[2] = {1, each};
  double row[each];
  const hid_t space = H5Screate_simple(2, all, NULL), memory = H5Screate_simple(2, block, NULL);
  const hid_t together = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  const hid_t data = write ? H5Dcreate2(file, "rows", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                           : H5Dopen2(file, "rows", H5P_DEFAULT);
  for (hsize_t i = 0; i < rows; ++i) {
    const hsize_t start[2] = {i, (hsize_t)rank * each};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL);
    for (int k = 0; write && k < each; ++k) row[k] = (double)i + rank;
    if (write) H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, together, row);
    if (!write) H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, together, row);
    for (int k = 0; !write && k < each; ++k) *sum += row[k];
  }
  H5Dclose(data);
  H5Pclose(together);
  H5Sclose(memory);
  H5Sclose(space);
}

int main(int argc, char** argv) {
  int rank, ranks;
  double sum = 0, total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const hid_t parallel = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(parallel, MPI_COMM_WORLD, MPI_INFO_NULL);
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, parallel);
  transfer(file, rank, ranks, 1, NULL);
  H5Fclose(file);
  file = H5Fopen(argv[1], H5F_ACC_RDONLY, parallel);
  transfer(file, rank, ranks, 0, &sum);
  H5Fclose(file);
  H5Pclose(parallel);
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%.0f\n", total);
  MPI_Finalize();
  return 0;
}
