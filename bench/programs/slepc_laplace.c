// Eigenvalues of the Laplacian on a square grid by SLEPc: slepc_laplace -n CELLS and SLEPc's options
#include <slepceps.h>

int main(int argc, char** argv) {
  SlepcInitialize(&argc, &argv, NULL, NULL);
  PetscInt n = 60, first, last, found;
  PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL);
  Mat matrix;
  MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 2, NULL, &matrix);
  MatGetOwnershipRange(matrix, &first, &last);
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt x = row % n, y = row / n;
    MatSetValue(matrix, row, row, 4.0, INSERT_VALUES);
    if (x > 0) MatSetValue(matrix, row, row - 1, -1.0, INSERT_VALUES);
    if (x < n - 1) MatSetValue(matrix, row, row + 1, -1.0, INSERT_VALUES);
    if (y > 0) MatSetValue(matrix, row, row - n, -1.0, INSERT_VALUES);
    if (y < n - 1) MatSetValue(matrix, row, row + n, -1.0, INSERT_VALUES);
  }
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
  EPS solver;
  EPSCreate(PETSC_COMM_WORLD, &solver);
  EPSSetOperators(solver, matrix, NULL);
  EPSSetProblemType(solver, EPS_HEP);
  EPSSetFromOptions(solver);
  EPSSolve(solver);
  EPSGetConverged(solver, &found);
  PetscPrintf(PETSC_COMM_WORLD, "%d eigenvalues\n", (int)found);
  EPSDestroy(&solver);
  MatDestroy(&matrix);
  return SlepcFinalize();
}
