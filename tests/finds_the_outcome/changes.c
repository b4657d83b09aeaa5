// changes nothing | user UID | locale NAME: a run that changes this of its processes after MPI_Init, meets barriers,
// and finalizes.
#include <grp.h>
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int change(const char* what, const char* value) {
  if (strcmp(what, "user") == 0) return setgroups(0, NULL) || setgid(atoi(value)) || setuid(atoi(value));
  if (strcmp(what, "locale") == 0) return setlocale(LC_ALL, value) == NULL;
  return strcmp(what, "nothing") != 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2 || change(argv[1], argc > 2 ? argv[2] : "")) {
    perror("cannot change it");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
