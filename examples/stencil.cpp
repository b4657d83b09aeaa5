// Jacobi sweeps with a 7-point stencil over a cube, one slab per rank. The cube is far larger than the caches, so that
// the memory determines the time. One boundary per sweep.
//
//   mpirun -np N stencil [SWEEPS [SIDE]]
//
// The default of 300 sweeps over 192^3 points, 108 MiB on all ranks together, takes 4 to 8 s on two ranks.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

/// This rank's planes of the cube, with one plane of each neighbour.
class Slab {
 public:
  Slab(int side, int rank, int ranks)
      : side_(side), planes_(side * (rank + 1) / ranks - side * rank / ranks), cells_((planes_ + 2) * plane_size()) {}

  int planes() const { return static_cast<int>(planes_); }
  std::size_t plane_size() const { return side_ * side_; }
  double* plane(int p) { return &cells_[static_cast<std::size_t>(p) * plane_size()]; }

 private:
  std::size_t side_;
  std::size_t planes_;
  std::vector<double> cells_;
};

void exchange_planes(Slab& slab, int below, int above) {
  const int size = static_cast<int>(slab.plane_size());
  MPI_Request requests[4];
  MPI_Irecv(slab.plane(0), size, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(slab.plane(slab.planes() + 1), size, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(slab.plane(1), size, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(slab.plane(slab.planes()), size, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/// One sweep from `now` to `next`; returns the largest change of a point.
double sweep(Slab& now, Slab& next, int side) {
  double largest = 0.0;
  for (int p = 1; p <= now.planes(); ++p) {
    const double* below = now.plane(p - 1);
    const double* above = now.plane(p + 1);
    const double* here = now.plane(p);
    double* to = next.plane(p);
    for (int row = 1; row < side - 1; ++row) {
      for (int i = row * side + 1; i < (row + 1) * side - 1; ++i) {
        to[i] = (below[i] + above[i] + here[i - side] + here[i + side] + here[i - 1] + here[i + 1]) / 6.0;
        largest = std::fmax(largest, std::fabs(to[i] - here[i]));
      }
    }
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int sweeps = argc > 1 ? std::atoi(argv[1]) : 300;
  const int side = argc > 2 ? std::atoi(argv[2]) : 192;
  if (side < ranks || side < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int above = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

  Slab now(side, rank, ranks);
  Slab next(side, rank, ranks);
  if (rank == 0) {  // the hot face
    for (std::size_t i = 0; i < now.plane_size(); ++i) now.plane(0)[i] = next.plane(0)[i] = 100.0;
  }
  double change = 0.0;
  for (int s = 0; s < sweeps; ++s) {
    exchange_planes(now, below, above);
    const double mine = sweep(now, next, side);
    std::swap(now, next);
    MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  if (rank == 0) std::printf("largest change of the last of %d sweeps: %.3e\n", sweeps, change);
  MPI_Finalize();
}
