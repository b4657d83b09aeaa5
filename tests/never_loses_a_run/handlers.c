// A library below MPI that handles signals itself, from MPI_Init on: it does its work, and ends the process by the same
// signal: SIGTERM at once, as LLVM does, the others when the handler has returned.
#include <mpi.h>
#include <signal.h>
#include <stddef.h>

static void handle(int number) {
  sigset_t all;
  sigfillset(&all);
  signal(number, SIG_DFL);
  if (number == SIGTERM) sigprocmask(SIG_UNBLOCK, &all, NULL);
  raise(number);
}

int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  const int numbers[] = {SIGTERM, SIGINT, SIGABRT, SIGSEGV, SIGXCPU, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) signal(numbers[i], handle);
  return result;
}
