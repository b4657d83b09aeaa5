// sessions [init|apart|again]: ten Allreduce over all processes within a session of MPI 4, and one at its end. With `init`
// there are ten more after an MPI_Init beside the session, between five barriers and MPI_Finalize. With `apart` each
// process is alone in its communicator. With `again` two more sessions follow.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "";
  const int with_init = strcmp(mode, "init") == 0, apart = strcmp(mode, "apart") == 0;
  int one = 1, sum = 0, rank;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm all;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, apart ? "mpi://SELF" : "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "halcyon.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
  MPI_Comm_rank(all, &rank);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  if (with_init) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 5; ++i) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 10; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Finalize();
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  if (rank == 0) printf("sum %d\n", sum);
  fflush(stdout);
  MPI_Comm_free(&all);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  for (int more = strcmp(mode, "again") == 0 ? 2 : 0; more > 0; --more) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
  }
  return 0;
}
