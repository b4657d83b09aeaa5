// A conjugate gradient solver for the Poisson equation, on three square grids of different size in turn: three phases,
// each with its own segments, and one to three thousand boundaries a second on two ranks.
//
//   mpirun -np N cg [CYCLES]
//
// Every cycle does exactly the same work, so all differences between two runs come from outside, as validation needs
// it. The default of 20 cycles takes 3 to 5 s on two ranks.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

constexpr int iterations = 50;
constexpr int sides[] = {500, 800, 1100};

using Field = std::vector<double>;

/// This rank's rows of a square grid, with one row of each neighbour.
class Grid {
 public:
  explicit Grid(int side) : side_(side) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    first_row_ = side * rank / ranks;
    rows_ = side * (rank + 1) / ranks - first_row_;
    above_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    below_ = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  }

  Field make_field() const { return Field(static_cast<std::size_t>(rows_ + 2) * width(), 0.0); }

  /// A rough right-hand side, the same for any number of ranks; 50 iterations reduce its residual well.
  Field make_sources() const {
    Field field = make_field();
    for (int row = 1; row <= rows_; ++row) {
      for (int column = 1; column <= side_; ++column) {
        field[at(row, column)] = (7 * (first_row_ + row) + 12 * column) % 17 - 8;
      }
    }
    return field;
  }

  void exchange(Field& field) const {
    MPI_Request requests[4];
    MPI_Irecv(&field[at(0, 0)], row_size(), MPI_DOUBLE, above_, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&field[at(rows_ + 1, 0)], row_size(), MPI_DOUBLE, below_, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&field[at(1, 0)], row_size(), MPI_DOUBLE, above_, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&field[at(rows_, 0)], row_size(), MPI_DOUBLE, below_, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }

  /// result = A x, for the five-point Laplacian; this rank's part of x·Ax.
  double apply(const Field& x, Field& result) const {
    double product = 0.0;
    for (int row = 1; row <= rows_; ++row) {
      for (int column = 1; column <= side_; ++column) {
        const std::size_t i = at(row, column);
        result[i] = 4.0 * x[i] - x[i - 1] - x[i + 1] - x[i - width()] - x[i + width()];
        product += x[i] * result[i];
      }
    }
    return product;
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(side_) + 2; }
  int row_size() const { return side_ + 2; }
  std::size_t at(int row, int column) const {
    return static_cast<std::size_t>(row) * width() + static_cast<std::size_t>(column);
  }

  int side_;
  int first_row_ = 0;
  int rows_ = 0;
  int above_ = MPI_PROC_NULL;
  int below_ = MPI_PROC_NULL;
};

double over_ranks(double part) {
  double sum = 0.0;
  MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

double square(const Field& field) {
  double sum = 0.0;
  for (const double value : field) sum += value * value;
  return sum;
}

/// Norms of the residual before and after `iterations` steps of the method.
std::pair<double, double> solve(int side) {
  const Grid grid(side);
  Field solution = grid.make_field();
  Field residual = grid.make_sources();
  Field direction = residual;
  Field product = grid.make_field();
  double norm = over_ranks(square(residual));
  const double first_norm = norm;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    grid.exchange(direction);
    const double step = norm / over_ranks(grid.apply(direction, product));
    for (std::size_t i = 0; i < solution.size(); ++i) {
      solution[i] += step * direction[i];
      residual[i] -= step * product[i];
    }
    const double next_norm = over_ranks(square(residual));
    const double share = next_norm / norm;
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = residual[i] + share * direction[i];
    norm = next_norm;
  }
  return {std::sqrt(first_norm), std::sqrt(norm)};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int cycles = argc > 1 ? std::atoi(argv[1]) : 20;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    for (const int side : sides) {
      const auto [before, after] = solve(side);
      if (rank == 0 && cycle == cycles - 1) std::printf("grid %d: residual %.3e -> %.3e\n", side, before, after);
    }
  }
  MPI_Finalize();
}
