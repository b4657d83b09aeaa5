// Heat in a plate, one strip per rank. Each step has everything that can delay a program: halo exchanges, collectives,
// a log file per rank through POSIX, and a common file through MPI-IO.
//
//   mpirun -np N plate [STEPS [DIRECTORY]]
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int width = 256;
constexpr int rows = 192;  // of a rank
constexpr int sweeps = 8;  // a step

// A strip, with one row of each neighbour.
class Strip {
 public:
  double* row(int r) { return &cells_[static_cast<std::size_t>(r) * width]; }

 private:
  std::vector<double> cells_ = std::vector<double>(static_cast<std::size_t>(rows + 2) * width, 0.0);
};

void exchange_halo(Strip& strip, int above, int below) {
  std::array<MPI_Request, 4> requests{};
  MPI_Irecv(strip.row(0), width, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(strip.row(rows + 1), width, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(strip.row(1), width, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(strip.row(rows), width, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

/// One sweep from `now` to `next`; returns the sum of squared changes.
double sweep(Strip& now, Strip& next, double rate) {
  double change = 0.0;
  for (int r = 1; r <= rows; ++r) {
    const double* up = now.row(r - 1);
    const double* here = now.row(r);
    const double* down = now.row(r + 1);
    double* to = next.row(r);
    for (int c = 1; c < width - 1; ++c) {
      const double step = rate * (up[c] + down[c] + here[c - 1] + here[c + 1] - 4.0 * here[c]);
      to[c] = here[c] + step;
      change += step * step;
    }
  }
  return change;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::string directory = argc > 2 ? argv[2] : ".";
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

  Strip now, next;
  if (rank == 0) {
    for (int c = 0; c < width; ++c) now.row(0)[c] = next.row(0)[c] = 100.0;  // the hot edge
  }
  const int log =
      open((directory + "/plate." + std::to_string(rank) + ".log").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  MPI_File rims = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, (directory + "/plate.rims").c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                &rims);

  double rate = 0.2;
  for (int step = 0; step < steps; ++step) {
    MPI_Bcast(&rate, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double change = 0.0;
    for (int s = 0; s < sweeps; ++s) {
      exchange_halo(now, above, below);
      change = sweep(now, next, rate);
      std::swap(now, next);
    }
    std::array<char, 64> line{};
    const int length = std::snprintf(line.data(), line.size(), "%d %.9e\n", step, std::sqrt(change));
    if (write(log, line.data(), static_cast<std::size_t>(length)) != length) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_write_at(rims, static_cast<MPI_Offset>(rank) * width * static_cast<MPI_Offset>(sizeof(double)), now.row(1),
                      width, MPI_DOUBLE, MPI_STATUS_IGNORE);
    double total = 0.0;
    MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) rate = total > 1e-12 ? 0.2 : 0.25;
  }
  MPI_File_close(&rims);
  close(log);
  MPI_Finalize();
  return 0;
}
