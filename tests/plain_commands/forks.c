/* An MPI program that starts other processes in every way there is, and does file I/O of its own beside them.
 *
 *   mpirun -np 1 forks FILE [BARRIERS]
 *
 * BARRIERS are met before and after, so that what is recorded may have been spilled by the time of the children.
 * Its own account: one open, one write of 5 bytes, one close. All else is done by its children.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what) {
  printf("%s\n", what);
  fflush(stdout);
}

static void report(const char *what, pid_t child) {
  int status;
  waitpid(child, &status, 0);
  printf("%s: exit status %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  fflush(stdout);
}

/* What a child does to a file; never the parent's. */
static void use_file(const char *path) {
  const int file = open(path, O_WRONLY | O_APPEND);
  write(file, "of a child", 10);
  close(file);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *path = argv[1];
  const long barriers = argc > 2 ? atol(argv[2]) : 0;
  for (long i = 0; i < barriers; ++i) MPI_Barrier(MPI_COMM_WORLD);
  const int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  pid_t child;

  if ((child = fork()) == 0) {
    use_file(path);
    execl("/bin/echo", "echo", "executed", (char *)NULL);
    _exit(127);
  }
  report("fork and exec", child);
  if ((child = fork()) == 0) {
    use_file(path);
    write(STDOUT_FILENO, "written\n", 8);
    _exit(3);
  }
  report("fork and _exit", child);
  if ((child = fork()) == 0) {
    use_file(path);
    say("said");
    exit(4);
  }
  report("fork and exit", child);
  for (int number = 0; number < 3; ++number) {
    const int signals[] = {SIGTERM, SIGKILL, SIGSEGV};
    if ((child = fork()) == 0) {
      use_file(path);
      signal(SIGSEGV, SIG_DFL); /* that of the MPI library has much to say */
      raise(signals[number]);
    }
    report("fork and a signal", child);
  }

  if ((child = vfork()) == 0) {
    use_file(path);
    _exit(6);
  }
  report("vfork and _exit", child);
  if ((child = vfork()) == 0) {
    use_file(path);
    execl("/bin/echo", "echo", "executed after vfork", (char *)NULL);
    _exit(127);
  }
  report("vfork and exec", child);

  char *const words[] = {"echo", "spawned", NULL};
  if (posix_spawn(&child, "/bin/echo", NULL, NULL, words, environ) == 0) report("posix_spawn", child);

  printf("system: %d\n", WEXITSTATUS(system("echo from the shell; exit 5")));
  fflush(stdout);
  char line[64] = "";
  FILE *pipe = popen("echo through a pipe", "r");
  if (fgets(line, sizeof line, pipe) != NULL) printf("popen: %s", line);
  printf("pclose: %d\n", pclose(pipe));

  for (long i = 0; i < barriers; ++i) MPI_Barrier(MPI_COMM_WORLD);
  write(file, "mine\n", 5);
  close(file);
  MPI_Finalize();
  return 0;
}
