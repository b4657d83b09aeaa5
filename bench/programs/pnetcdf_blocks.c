// Writes blocks of three variables into a file, step by step, and reads them again: pnetcdf_blocks [SIZE STEPS]
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

static void checked(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s\n", ncmpi_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const MPI_Offset size = argc > 1 ? atoi(argv[1]) : 256;
  const int steps = argc > 2 ? atoi(argv[2]) : 10;
  int rank, ranks, file, dimensions[3], variables[3];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  checked(ncmpi_create(MPI_COMM_WORLD, "blocks.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  checked(ncmpi_def_dim(file, "step", NC_UNLIMITED, &dimensions[0]));
  checked(ncmpi_def_dim(file, "y", size, &dimensions[1]));
  checked(ncmpi_def_dim(file, "x", size * ranks, &dimensions[2]));
  for (int i = 0; i < 3; ++i) {
    checked(ncmpi_def_var(file, (char[]){(char)('a' + i), '\0'}, NC_DOUBLE, 3, dimensions, &variables[i]));
  }
  checked(ncmpi_enddef(file));
  double* const block = malloc(size * size * sizeof *block);
  const MPI_Offset count[3] = {1, size, size};
  for (int step = 0; step < steps; ++step) {
    const MPI_Offset start[3] = {step, 0, rank * size};
    for (int i = 0; i < 3; ++i) {
      for (MPI_Offset cell = 0; cell < size * size; ++cell) block[cell] = (double)(cell * (step + i) % 1000) / 7.0;
      checked(ncmpi_put_vara_double_all(file, variables[i], start, count, block));
      checked(ncmpi_get_vara_double_all(file, variables[i], start, count, block));
    }
    checked(ncmpi_sync(file));
  }
  checked(ncmpi_close(file));
  free(block);
  return MPI_Finalize();
}
