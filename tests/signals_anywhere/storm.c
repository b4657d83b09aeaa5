/* Signals meet threads that have never called MPI, and their handlers write to a file: the first calls of these threads.
   The handlers do only what POSIX allows in one, and the allocator makes sure that nobody else does more:

     storm lock SIGNALS    the allocator is under a lock that is not recursive, and the threads are mostly in it
     storm abort SIGNALS   ends the process if memory is allocated in a handler
     storm random SIGNALS  each fifth allocation of the recorder fails
     storm exit SIGNALS    as lock, and the last handler ends the process by _exit

   Prints how many handlers have run: each has written once, and synchronized the file every hundredth time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 8 };

static enum { USUAL, LOCK, ABORT, RANDOM } allocator;
static _Thread_local volatile sig_atomic_t in_handler;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static atomic_uint allocations;

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_calloc(size_t, size_t);

static void fail(const char *what) {
  write(STDERR_FILENO, what, strlen(what));
  abort();
}

/* Whether the caller's allocation fails. */
static int enter(const void *caller) {
  if (allocator == ABORT && in_handler) fail("storm: an allocation in a signal handler\n");
  if (allocator == LOCK) {
    while (atomic_flag_test_and_set(&lock)) sched_yield();
  }
  if (allocator == RANDOM && atomic_fetch_add(&allocations, 1) % 5 == 0) {
    Dl_info info;
    if (dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libhalcyon")) return 1;
  }
  return 0;
}
static void leave(void) {
  if (allocator == LOCK) atomic_flag_clear(&lock);
}

void *malloc(size_t size) {
  if (enter(__builtin_return_address(0))) return NULL;
  void *memory = __libc_malloc(size);
  leave();
  return memory;
}
void *calloc(size_t count, size_t size) {
  if (enter(__builtin_return_address(0))) return NULL;
  void *memory = __libc_calloc(count, size);
  leave();
  return memory;
}
void *realloc(void *old, size_t size) {
  if (enter(__builtin_return_address(0))) return NULL;
  void *memory = __libc_realloc(old, size);
  leave();
  return memory;
}
void free(void *memory) {
  if (memory == NULL) return;
  enter(NULL);
  __libc_free(memory);
  leave();
}

static int file;
static atomic_int handled, ended;
static int last = -1; /* the handler that ends the process */

static void on_signal(int signal) {
  (void)signal;
  const int saved = errno;
  in_handler = 1;
  const int number = atomic_fetch_add(&handled, 1) + 1;
  write(file, "s", 1);
  if (number % 100 == 0) fsync(file);
  if (number == last) _exit(0);
  in_handler = 0;
  errno = saved;
}

static void *work(void *unused) {
  (void)unused;
  while (!ended) {
    for (int i = 0; i < 200; ++i) free(malloc(64));
    usleep(300); /* a thread that has no processor would be slow to answer */
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const char *const kind = argv[1];
  const int signals = atoi(argv[2]);
  allocator = !strcmp(kind, "abort") ? ABORT : !strcmp(kind, "random") ? RANDOM : LOCK;
  if (!strcmp(kind, "exit")) last = signals / 2;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[64];
  snprintf(name, sizeof name, "storm.%d", rank);
  file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int sent = 0; sent < signals;) {
    for (int i = 0; i < THREADS && sent < signals; ++i, ++sent) pthread_kill(threads[i], SIGUSR1);
    while (handled < sent) usleep(10); /* a second one to the same thread would be merged with the first */
    if (sent % 800 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  ended = 1;
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  close(file);
  printf("%d\n", (int)handled);
  MPI_Finalize();
  return 0;
}
