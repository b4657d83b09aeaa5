// Solves Laplace's equation on a cube by hypre's BoomerAMG, some times: hypre_amg [CELLS TIMES]
#include <HYPRE.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  const int n = argc > 1 ? atoi(argv[1]) : 40, times = argc > 2 ? atoi(argv[2]) : 3;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int plane = n * n, first = rank * n / ranks * plane, last = (rank + 1) * n / ranks * plane - 1;

  HYPRE_IJMatrix matrix;
  HYPRE_IJVector right, left;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  for (HYPRE_BigInt row = first; row <= last; ++row) {
    const int x = row % n, y = row / n % n, z = row / plane;
    HYPRE_BigInt columns[7] = {row};
    double values[7] = {6.0};
    int count = 1;
    const int inside[6] = {x > 0, x<n - 1, y> 0, y<n - 1, z> 0, z < n - 1};
    const int step[6] = {-1, 1, -n, n, -plane, plane};
    for (int side = 0; side < 6; ++side) {
      if (!inside[side]) continue;
      columns[count] = row + step[side];
      values[count++] = -1.0;
    }
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, columns, values);
  }
  HYPRE_IJMatrixAssemble(matrix);
  HYPRE_IJVector* const vectors[2] = {&right, &left};
  for (int which = 0; which < 2; ++which) {
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, vectors[which]);
    HYPRE_IJVectorSetObjectType(*vectors[which], HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(*vectors[which]);
    for (HYPRE_BigInt row = first; row <= last; ++row) {
      const double value = which == 0 ? 1.0 : 0.0;
      HYPRE_IJVectorSetValues(*vectors[which], 1, &row, &value);
    }
    HYPRE_IJVectorAssemble(*vectors[which]);
  }
  void *a, *b, *x;
  HYPRE_IJMatrixGetObject(matrix, &a);
  HYPRE_IJVectorGetObject(right, &b);
  HYPRE_IJVectorGetObject(left, &x);
  for (int time = 0; time < times; ++time) {
    HYPRE_Solver solver;
    HYPRE_Int iterations;
    HYPRE_BoomerAMGCreate(&solver);
    HYPRE_BoomerAMGSetTol(solver, 1e-8);
    HYPRE_BoomerAMGSetup(solver, a, b, x);
    HYPRE_ParVectorSetConstantValues(x, 0.0);
    HYPRE_BoomerAMGSolve(solver, a, b, x);
    HYPRE_BoomerAMGGetNumIterations(solver, &iterations);
    if (rank == 0) printf("%d iterations\n", (int)iterations);
    HYPRE_BoomerAMGDestroy(solver);
  }
  HYPRE_Finalize();
  return MPI_Finalize();
}
