/* descriptors no_files   opens, reads, writes and waits for all that is no file
 * descriptors reused     a descriptor is a file and a pipe by turns; writes to the file "expected" what it did to files
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(int condition, const char* what) {
  if (condition) return;
  perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void pass_through(int in, int out) {
  char data[8] = "abcdefg";
  must(write(in, data, sizeof data) == sizeof data && read(out, data, sizeof data) == sizeof data, "write and read");
}

static void read_path(const char* path) {
  char line[64];
  const int file = open(path, O_RDONLY);
  must(file >= 0 && read(file, line, sizeof line) > 0, path);
  close(file);
  FILE* stream = fopen(path, "r");
  must(stream != NULL && fgets(line, sizeof line, stream) != NULL, path);
  fclose(stream);
}

static void no_files(void) {
  int ends[2];
  char line[64];

  must(pipe(ends) == 0, "pipe");
  pass_through(ends[1], ends[0]);
  const int copy = dup(ends[1]);
  pass_through(copy, ends[0]);
  close(copy);
  if (fork() == 0) { /* the parent waits for it in read() and in waitpid() */
    usleep(50000);
    _exit(write(ends[1], "x", 1) != 1);
  }
  must(read(ends[0], line, 1) == 1, "read");
  wait(NULL);
  FILE *const out = fdopen(ends[1], "w"), *const in = fdopen(ends[0], "r");
  fprintf(out, "%d\n", 12);
  fputc('a', out);
  fflush(out);
  must(fscanf(in, "%d\n", ends) == 1 && fgetc(in) == 'a', "fscanf");
  fclose(out);
  fclose(in);

  must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  pass_through(ends[1], ends[0]);
  close(ends[0]);
  close(ends[1]);

  const int counter = eventfd(0, 0);
  pass_through(counter, counter);
  close(counter);

  FILE* const command = popen("sleep 0.05; echo done", "r");
  must(command != NULL && fgets(line, sizeof line, command) != NULL, "popen");
  pclose(command);

  read_path("/proc/self/stat");
  read_path("/proc/cpuinfo");
  read_path("/sys/devices/system/cpu/online");
  const int zero = open("/dev/zero", O_RDWR);
  must(zero >= 0, "/dev/zero");
  pass_through(zero, zero);
  close(zero);

  must(mkfifo("fifo", 0600) == 0, "mkfifo");
  if (fork() == 0) {
    usleep(50000);
    const int end = open("fifo", O_WRONLY);
    _exit(write(end, "x", 1) != 1);
  }
  const int end = open("fifo", O_RDONLY); /* waits for the child */
  must(read(end, line, 1) == 1, "fifo");
  close(end);
  wait(NULL);
}

/* ---- */

static int opens, closes, writes; /* of files */
static int ends[2];               /* of a pipe */

static void write_to_file(int file) {
  must(write(file, "x", 1) == 1, "write");
  writes += 1;
}
static void write_to_pipe(int end) {
  char got;
  must(write(end, "y", 1) == 1 && read(ends[0], &got, 1) == 1 && got == 'y', "write to the pipe");
}

enum { BY_CLOSE, BY_FCLOSE, BY_CLOSE_RANGE, BY_CLOSEFROM, BY_FREOPEN, WAYS };

static void close_by(int way, int descriptor) {
  FILE* stream = NULL;
  switch (way) {
    case BY_CLOSE: must(close(descriptor) == 0, "close"); break;
    case BY_FCLOSE: must(fclose(fdopen(descriptor, "w")) == 0, "fclose"); break;
    case BY_CLOSE_RANGE: must(close_range((unsigned)descriptor, (unsigned)descriptor, 0) == 0, "close_range"); break;
    case BY_CLOSEFROM: closefrom(descriptor); break;
    case BY_FREOPEN:
      stream = freopen("/dev/null", "w", fdopen(descriptor, "w"));
      must(stream != NULL && fileno(stream) == descriptor && fputs("nothing", stream) >= 0, "freopen");
      fclose(stream);
      break;
  }
}

static void reused(void) {
  const int file = open("file", O_CREAT | O_RDWR, 0600);
  must(file >= 0 && pipe(ends) == 0, "file and pipe");
  opens += 1;
  const int above_all = fcntl(file, F_DUPFD, 900); /* so that closefrom closes nothing of MPI */
  opens += 1, closes += 1;
  close(above_all);

  for (int way = 0; way < WAYS; ++way) {
    /* A direct system call is not noticed: what was known of the descriptor must be forgotten when it is closed. */
    syscall(SYS_dup3, file, above_all, 0);
    write_to_file(above_all);
    close_by(way, above_all), closes += 1;
    syscall(SYS_dup3, ends[1], above_all, 0);
    write_to_pipe(above_all);
    close_by(way, above_all);
  }

  dup2(file, above_all), opens += 1;
  write_to_file(above_all);
  dup2(ends[1], above_all), closes += 1;
  write_to_pipe(above_all);
  dup3(file, above_all, O_CLOEXEC), opens += 1;
  write_to_file(above_all);

  /* A child of vfork shares the memory, but not the descriptors. */
  const pid_t child = vfork();
  if (child == 0) {
    dup2(ends[1], above_all);
    _exit(write(above_all, "y", 1) != 1);
  }
  waitpid(child, NULL, 0);
  write_to_file(above_all);
  close(above_all), closes += 1;
  close(file), closes += 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (strcmp(argv[1], "no_files") == 0) no_files();
  if (strcmp(argv[1], "reused") == 0) reused();
  MPI_Finalize();
  FILE* const expected = fopen("expected", "w");
  if (expected == NULL) return 1;
  fprintf(expected, "%d %d %d\n", opens, closes, writes);
  return fclose(expected);
}
