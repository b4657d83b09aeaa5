// A small computation that writes all its data every few steps and waits until the data is on disk, so that it mostly
// measures the file system. Every checkpoint overwrites the previous one.
//
//   mpirun -np N checkpoint [STEPS [DIRECTORY]]
//
// Checkpoints alternate: all ranks write one file through MPI-IO, or each rank writes its own file with fsync. Each
// kind comes every fourth step. The default of 400 steps writes 200 MiB per rank and takes some seconds.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int cells = 1 << 17;  // of a rank: 1 MiB

void relax(std::vector<double>& rod) {
  double before = rod.front();
  for (std::size_t i = 1; i + 1 < rod.size(); ++i) {
    const double here = rod[i];
    rod[i] = 0.5 * here + 0.25 * (before + rod[i + 1]);
    before = here;
  }
}

void write_own(int file, const std::vector<double>& rod) {
  const std::size_t bytes = rod.size() * sizeof(double);
  if (pwrite(file, rod.data(), bytes, 0) != static_cast<ssize_t>(bytes) || fsync(file) != 0) {
    std::perror("checkpoint");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

void write_common(MPI_File file, int rank, const std::vector<double>& rod) {
  const MPI_Offset place = static_cast<MPI_Offset>(rank) * cells * static_cast<MPI_Offset>(sizeof(double));
  MPI_File_write_at_all(file, place, rod.data(), cells, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int steps = argc > 1 ? std::atoi(argv[1]) : 400;
  const std::string directory = argc > 2 ? argv[2] : ".";

  std::vector<double> rod(cells, 0.0);
  rod.front() = 100.0;
  const std::string own = directory + "/checkpoint." + std::to_string(rank);
  const int file = open(own.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  MPI_File common = MPI_FILE_NULL;
  const int opened = MPI_File_open(MPI_COMM_WORLD, (directory + "/checkpoint.all").c_str(),
                                   MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &common);
  if (file < 0 || opened != MPI_SUCCESS) {
    std::fprintf(stderr, "checkpoint: cannot write in %s\n", directory.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double heat = 0.0;
  for (int step = 0; step < steps; ++step) {
    relax(rod);
    if (step % 4 == 1) write_own(file, rod);
    if (step % 4 == 3) write_common(common, rank, rod);
    MPI_Allreduce(&rod[1], &heat, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) std::printf("after %d steps: %.6f\n", steps, heat);
  MPI_File_close(&common);
  close(file);
  MPI_Finalize();
}
