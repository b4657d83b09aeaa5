// Things a program may do that a tool in its process gets wrong. One of them a run: hostile CASE.
//   cancelled   a thread is cancelled inside a file call, so that the unwinder passes through a wrapper
//   attribute   a copy callback on MPI_COMM_WORLD that fails, as nobody duplicates the world here
//   closed      standard input, output and error are closed before MPI_Finalize
//   threads     boundaries and receives of eight threads at once, whose handles MPI hands round between them
//   early       a thread that writes a file was there before MPI_Init
//   aborts      one thread calls MPI_Abort while eight others are in MPI
//   collectives each of eight threads has blocking calls and persistent requests on a communicator of its own
//   kinds       eight threads meet boundaries of different kinds, in an order that no two ranks share
//   shortlived  a thousand threads, one after the other, each with a call of its own
//   failing     calls that fail, under MPI_ERRORS_RETURN
//   null        calls that complete, start and free requests, without the arrays, flags and counts that they need
//   truncated   receives whose message is too long, under MPI_ERRORS_RETURN, and what comes after under their handles
//   handler     calls that fail, and an error handler of the program's own
//   jumps       an error handler that leaves the failed call by longjmp
//   logs        an error handler that writes a line to a file and jumps; then others write lines by the same function
//   fibers      an error handler that leaves the failed call, and its fiber, for a fiber whose stack lies lower
//   begun       MPI_Init in a fiber, whose stack lies behind data of the program
//   contexts    an error handler that leaves the failed call by setcontext; later calls leave the stack as it was
//   unseen      the same by __builtin_longjmp, which nobody else sees
//   unmapped    an error handler leaves a fiber, whose stack is then unmapped; the one below it goes on
//   seen        receives whose completion MPI_Request_get_status finds, and whose requests are then freed
//   within      receives that a callback of a generalized request completes, and what comes after under their handles
//   leftover    a gather fails at its root alone, so that the other ranks' messages stay on MPI_COMM_WORLD
//   forgets     an environment of its own, before MPI_Init, and zeros over the one that it was given
//   pcontrol    MPI_Pcontrol with all its levels
//   unreadable  what write(2) says of an address where there is no memory
//   children    a handler for SIGCHLD and a wait for any child, around MPI_Finalize
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { rounds = 300, threads = 8, early_writes = 1000 };
static int rank, ranks;
static MPI_Comm comms[threads];

static void* read_for_ever(void* pipe) {
  char byte;
  while (read(*(int*)pipe, &byte, 1) >= 0) {
  }
  return NULL;
}

static void cancelled(void) {
  int ends[2];
  pthread_t thread;
  void* result;
  if (pipe(ends) != 0) return;
  pthread_create(&thread, NULL, read_for_ever, &ends[0]);
  pthread_cancel(thread); /* read is where it can be cancelled, whenever it gets there */
  pthread_join(thread, &result);
  puts(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
}

static int fail_to_copy(MPI_Comm comm, int key, void* state, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)state, (void)in, (void)out;
  puts("copied");
  *flag = 0;
  return MPI_ERR_OTHER;
}

static void attribute(void) {
  static int key;
  MPI_Comm_create_keyval(fail_to_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
}

static void* communicate(void* argument) {
  const int thread = (int)(long)argument;
  MPI_Comm comm = comms[thread];
  for (int i = 0; i < rounds; ++i) {
    if (thread % 2 == 0) {
      int one = 1, sum = 0;
      MPI_Request request;
      MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      char out[8] = {0}, in[64];
      MPI_Request requests[2];
      MPI_Irecv(in, sizeof in, MPI_CHAR, (rank + ranks - 1) % ranks, thread, comm, &requests[0]);
      MPI_Isend(out, sizeof out, MPI_CHAR, (rank + 1) % ranks, thread, comm, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  }
  return NULL;
}

static void several_threads(void* (*work)(void*)) {
  pthread_t ids[threads];
  for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (long i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
}

static atomic_int is_over, writes;

static void* write_until_over(void* unused) {
  FILE* file = tmpfile();
  while (!is_over) {
    fwrite("x", 1, 1, file);
    ++writes;
  }
  fclose(file);
  return unused;
}

/* The file is written to before, during and after MPI_Init. */
static pthread_t start_early(void) {
  pthread_t writer;
  pthread_create(&writer, NULL, write_until_over, NULL);
  return writer;
}

static void early(pthread_t writer) {
  const int until_now = writes;
  while (writes < until_now + early_writes) sched_yield();
  is_over = 1;
  pthread_join(writer, NULL);
}

static void* meet_for_ever(void* argument) {
  for (;;) communicate(argument);
  return NULL;
}

static void aborts(void) {
  pthread_t ids[threads];
  for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (long i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, meet_for_ever, (void*)i);
  for (int i = 0; i < rounds; ++i) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

static void* exchange(void* argument) {
  const int thread = (int)(long)argument, last = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
  MPI_Comm comm = comms[thread];
  char out[8] = {0}, in[64];
  MPI_Request requests[2];
  MPI_Recv_init(in, sizeof in, MPI_CHAR, last, 1, comm, &requests[0]);
  MPI_Send_init(out, sizeof out, MPI_CHAR, next, 1, comm, &requests[1]);
  for (int i = 0; i < rounds; ++i) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(&sum, 1, MPI_INT, 0, comm);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 4, MPI_CHAR, next, 2, in, sizeof in, MPI_CHAR, last, 2, comm, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
  return NULL;
}

static void* meet(void* argument) {
  const int thread = (int)(long)argument;
  for (int i = 0; i < rounds; ++i) {
    int one = 1, sum = 0;
    if (thread % 2 == 0) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[thread]);
    if (thread % 2 != 0) MPI_Barrier(comms[thread]);
  }
  return NULL;
}

static void* send_to_nobody(void* unused) {
  MPI_Send(NULL, 0, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  return unused;
}

static void shortlived(void) {
  for (int i = 0; i < 1000; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, send_to_nobody, NULL);
    pthread_join(thread, NULL);
  }
}

static void failing(void) {
  char data[4] = {0};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int bad_rank = MPI_Send(data, 4, MPI_CHAR, ranks + 7, 0, MPI_COMM_WORLD);
  const int bad_type = MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_DATATYPE_NULL, MPI_MAX, MPI_COMM_WORLD);
  const int bad_receive = MPI_Recv(data, 4, MPI_CHAR, ranks + 7, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%d %d %d\n", bad_rank != MPI_SUCCESS, bad_type != MPI_SUCCESS, bad_receive != MPI_SUCCESS);
}

static int class_of(int error) {
  int error_class = -1;
  MPI_Error_class(error, &error_class);
  return error_class;
}

static void null(void) {
  int index, found, indices[2];
  MPI_Request one = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int classes[] = {
      class_of(MPI_Wait(NULL, &status)),
      class_of(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE)),
      class_of(MPI_Waitany(2, NULL, &index, &status)),
      class_of(MPI_Waitsome(2, NULL, &found, indices, MPI_STATUSES_IGNORE)),
      class_of(MPI_Test(NULL, &found, &status)),
      class_of(MPI_Testall(2, NULL, &found, MPI_STATUSES_IGNORE)),
      class_of(MPI_Testany(2, NULL, &index, &found, &status)),
      class_of(MPI_Testsome(2, NULL, &found, indices, MPI_STATUSES_IGNORE)),
      class_of(MPI_Test(&one, NULL, &status)),
      class_of(MPI_Testall(1, &one, NULL, MPI_STATUSES_IGNORE)),
      class_of(MPI_Testany(1, &one, NULL, NULL, &status)),
      class_of(MPI_Testsome(1, &one, NULL, NULL, MPI_STATUSES_IGNORE)),
      class_of(MPI_Waitany(1, &one, NULL, &status)),
      class_of(MPI_Waitsome(1, &one, NULL, NULL, MPI_STATUSES_IGNORE)),
      class_of(MPI_Waitall(-1, &one, MPI_STATUSES_IGNORE)),
      class_of(MPI_Testall(-1, &one, &found, MPI_STATUSES_IGNORE)),
      class_of(MPI_Start(NULL)),
      class_of(MPI_Startall(2, NULL)),
      class_of(MPI_Request_free(NULL)),
  };
  for (size_t i = 0; i < sizeof classes / sizeof *classes; ++i) printf("%d ", classes[i]);
  puts("");
}

static void truncated(void) {
  char out[64] = {0}, in[64];
  int failed = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* for requests of several communicators */
  for (int i = 0; i < 100; ++i) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(in, 4, MPI_CHAR, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Send(out, 16, MPI_CHAR, 0, 0, MPI_COMM_SELF);
    if (i % 2 == 0) failed += MPI_Wait(&requests[0], MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (i % 2 != 0) failed += MPI_Waitall(1, requests, statuses) != MPI_SUCCESS;
    MPI_Isend(out, 64, MPI_CHAR, 0, 2, MPI_COMM_SELF, &requests[0]);
    MPI_Recv(in, 64, MPI_CHAR, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(in, 64, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(out, 32, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, statuses);
  }
  printf("%d failed\n", failed);
}

static int handled;
static void handle(MPI_Comm* comm, int* error, ...) {
  int size, error_class;
  MPI_Comm_size(*comm, &size);
  MPI_Error_class(*error, &error_class);
  handled += error_class == MPI_ERR_RANK && size == ranks;
}

static void handler(void) {
  MPI_Errhandler own;
  char data[4] = {0};
  int failed = 0;
  MPI_Comm_create_errhandler(handle, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  for (int i = 0; i < 5; ++i) {
    int error_class = 0;
    MPI_Error_class(MPI_Send(data, 4, MPI_CHAR, ranks + 7, 0, MPI_COMM_WORLD), &error_class);
    failed += error_class == MPI_ERR_RANK;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Errhandler_free(&own);
  printf("%d failed, %d handled\n", failed, handled);
}

// Calls that fail and are left by a jump: from deep below, from the very function that jumps back to itself; what is
// called then lies higher, lower or just there.
static jmp_buf back;
static void jump(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  longjmp(back, 1);
}

static __attribute__((noinline)) void fail_below(int depth) {
  volatile char room[200];
  room[0] = (char)depth;
  if (depth > 0) fail_below(depth - 1);
  if (depth == 0) MPI_Send((void*)room, 1, MPI_CHAR, ranks + 7, 0, MPI_COMM_WORLD);
  room[1] = room[0];
}

static __attribute__((noinline)) void exchange_below(int depth) {
  char room[200], got[200];
  memset(room, depth, sizeof room);
  memset(got, -1, sizeof got);
  if (depth > 0) exchange_below(depth - 1);
  MPI_Sendrecv(room, 1, MPI_CHAR, rank, 0, got, 1, MPI_CHAR, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (got[0] != depth || got[1] != -1) printf("not what was sent\n");
}

static void jumps(void) {
  MPI_Errhandler own;
  volatile int failed = 0;
  MPI_Comm_create_errhandler(jump, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  for (volatile int i = 0; i < 30; ++i) {
    char got;
    if (setjmp(back) == 0) {
      if (i % 3 == 0) fail_below(20);
      if (i % 3 == 1) fail_below(0);
      if (i % 3 == 2) MPI_Send(&got, 1, MPI_CHAR, ranks + 7, 0, MPI_COMM_WORLD);
    } else {
      ++failed;
    }
    exchange_below(i % 2);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Errhandler_free(&own);
  printf("%d failed\n", failed);
}

static FILE* log_file;
static __attribute__((noinline)) void write_line(void) {
  if (write(fileno(log_file), "a line\n", 7) != 7) puts("not written");
}
static void log_and_jump(MPI_Comm* comm, int* error, ...) {
  write_line();
  jump(comm, error);
}

static void logs(void) {
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(log_and_jump, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  log_file = tmpfile();
  if (setjmp(back) == 0) MPI_Send(&rank, 1, MPI_INT, ranks + 7, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 30; ++i) write_line();
  MPI_Errhandler_free(&own);
}

static ucontext_t beginning, failing_fiber, other_fiber;
static void go_to_other_fiber(MPI_Comm* comm, int* error, ...) {
  (void)comm, (void)error;
  setcontext(&other_fiber);
}
static void fail_in_fiber(void) { fail_below(0); }
static void exchange_in_fiber(void) {
  for (int i = 0; i < 30; ++i) {
    exchange_below(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void fibers(void) {
  enum { bytes = 1 << 17 };
  static _Alignas(64) char stacks[2][bytes];
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(go_to_other_fiber, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  getcontext(&other_fiber);
  other_fiber.uc_stack = (stack_t){.ss_sp = stacks[0], .ss_size = bytes};
  other_fiber.uc_link = &beginning;
  makecontext(&other_fiber, exchange_in_fiber, 0);
  getcontext(&failing_fiber);
  failing_fiber.uc_stack = (stack_t){.ss_sp = stacks[1], .ss_size = bytes};
  makecontext(&failing_fiber, fail_in_fiber, 0);
  swapcontext(&beginning, &failing_fiber);
  MPI_Errhandler_free(&own);
}

// A frame that covers those of earlier calls, and leaves all of them as they were.
static __attribute__((noinline)) void barrier_in_large_frame(void) {
  char room[6000];
  __asm__ volatile("" : : "r"(room) : "memory");
  MPI_Barrier(MPI_COMM_WORLD);
  __asm__ volatile("" : : "r"(room) : "memory");
}
static __attribute__((noinline)) void fail_in_small_frame(void) {
  MPI_Send(&rank, 1, MPI_INT, ranks + 7, 0, MPI_COMM_WORLD);
  __asm__ volatile("");
}

static void go_to_beginning(MPI_Comm* comm, int* error, ...) {
  (void)comm, (void)error;
  setcontext(&beginning);
}

static void contexts(void) {
  MPI_Errhandler own;
  volatile int is_back = 0;
  MPI_Comm_create_errhandler(go_to_beginning, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  getcontext(&beginning);
  if (!is_back++) fail_in_small_frame();
  for (volatile int i = 0; i < 30; ++i) barrier_in_large_frame();
  MPI_Errhandler_free(&own);
}

static void* unseen_back[5];
static void jump_unseen(MPI_Comm* comm, int* error, ...) {
  (void)comm, (void)error;
  __builtin_longjmp(unseen_back, 1);
}
static __attribute__((noinline)) void fail_and_come_back(void) {
  if (__builtin_setjmp(unseen_back) == 0) fail_in_small_frame();
}

static void unseen(void) {
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(jump_unseen, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  fail_and_come_back();
  for (int i = 0; i < 1000; ++i) barrier_in_large_frame();
  MPI_Errhandler_free(&own);
}

static void fail_deep(void) {
  char room[9000];
  __asm__ volatile("" : : "r"(room) : "memory");
  fail_in_small_frame();
  __asm__ volatile("" : : "r"(room) : "memory");
}
static void barriers_in_fiber(void) {
  for (int i = 0; i < 30; ++i) barrier_in_large_frame();
}

static void unmapped(void) {
  enum { bytes = 1 << 16 };
  MPI_Errhandler own;
  volatile int is_back = 0;
  char* const stacks = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MPI_Comm_create_errhandler(go_to_beginning, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  getcontext(&failing_fiber);
  failing_fiber.uc_stack = (stack_t){.ss_sp = stacks + bytes, .ss_size = bytes};
  makecontext(&failing_fiber, fail_deep, 0);
  getcontext(&other_fiber);
  other_fiber.uc_stack = (stack_t){.ss_sp = stacks, .ss_size = bytes};
  other_fiber.uc_link = &beginning;
  makecontext(&other_fiber, barriers_in_fiber, 0);
  getcontext(&beginning);
  ++is_back;
  if (is_back == 1) setcontext(&failing_fiber);
  if (is_back == 2) {
    munmap(stacks + bytes, bytes);
    setcontext(&other_fiber);
  }
  MPI_Errhandler_free(&own);
}

static void receive_later(char* room, int bytes, MPI_Request* request) {
  static char message[100];
  MPI_Irecv(room, bytes, MPI_CHAR, rank, 0, MPI_COMM_WORLD, request);
  MPI_Send(message, bytes, MPI_CHAR, rank, 0, MPI_COMM_WORLD);
}

static void seen(void) {
  char room[100];
  for (int i = 0; i < 30; ++i) {
    MPI_Request request;
    receive_later(room, 100, &request);
    for (int there = 0; !there;) MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
}

static MPI_Request inner = MPI_REQUEST_NULL;
static int complete_inner(void* state, MPI_Status* status) {
  (void)state;
  MPI_Wait(&inner, MPI_STATUS_IGNORE);
  MPI_Status_set_elements(status, MPI_CHAR, 7);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = 0;
  return MPI_SUCCESS;
}
static int free_nothing(void* state) { return state == NULL ? MPI_SUCCESS : MPI_ERR_OTHER; }
static int cancel_nothing(void* state, int is_complete) {
  (void)is_complete;
  return free_nothing(state);
}

static void within(void) {
  char room[100];
  for (int i = 0; i < 60; ++i) {
    MPI_Request generalized;
    if (i < 30) receive_later(room, 100, &inner);
    MPI_Grequest_start(complete_inner, free_nothing, cancel_nothing, NULL, &generalized);
    MPI_Grequest_complete(generalized);
    MPI_Wait(&generalized, MPI_STATUS_IGNORE);
  }
}

static void leftover(void) {
  int own = rank, all[64];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int failed = MPI_Gather(&own, 1, MPI_INT, all, rank == 0 ? -1 : 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
  if (rank == 0) puts(failed ? "failed" : "did not fail");
}

static void pcontrol(void) {
  for (int level = 0; level < 4; ++level) {
    printf("level %d: %d\n", level, MPI_Pcontrol(level, "phase"));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void unreadable(void) {
  int ends[2];
  if (pipe(ends) != 0) return;
  const void* volatile nowhere = (const void*)(sizeof ends);  // volatile, or the compiler would warn
  const ssize_t written = write(ends[1], nowhere, 100);
  puts(written < 0 && errno == EFAULT ? "refused" : "written");
}

static volatile sig_atomic_t children;
static void count_child(int signal) {
  (void)signal;
  ++children;
}

static void begin(void) {
  int provided;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
}

static void begin_in_fiber(void) {
  enum { bytes_of_data = 1 << 20, bytes_of_stack = 200 << 10, filled = 0xaa };
  static _Alignas(64) unsigned char memory[bytes_of_data + bytes_of_stack];
  int changed = 0;
  memset(memory, filled, bytes_of_data);
  getcontext(&other_fiber);
  other_fiber.uc_stack = (stack_t){.ss_sp = memory + bytes_of_data, .ss_size = bytes_of_stack};
  other_fiber.uc_link = &beginning;
  makecontext(&other_fiber, begin, 0);
  swapcontext(&beginning, &other_fiber);
  for (int i = 0; i < bytes_of_data; ++i) changed += memory[i] != filled;
  printf("%d bytes changed\n", changed);
}

// Programs that begin with an environment of their own, and write over the one that they were given.
extern char** environ;
static void forgets(void) {
  static char* kept[1000];
  int count = 0;
  for (char** entry = environ; *entry != NULL && count < 999; ++entry) {
    const int is_kept = strncmp(*entry, "HALCYON_", 8) != 0 && strncmp(*entry, "INTM_", 5) != 0 &&
                        strncmp(*entry, "LD_PRELOAD=", 11) != 0;
    if (is_kept) kept[count++] = strdup(*entry);
    memset(*entry, 0, strlen(*entry));
  }
  environ = kept;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const pthread_t writer = strcmp(what, "early") == 0 ? start_early() : pthread_self();
  if (strcmp(what, "forgets") == 0) forgets();
  if (strcmp(what, "begun") == 0) {
    begin_in_fiber();
  } else {
    begin();
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "cancelled") == 0) cancelled();
  if (strcmp(what, "attribute") == 0) attribute();
  if (strcmp(what, "early") == 0) early(writer);
  if (strcmp(what, "aborts") == 0) aborts();
  if (strcmp(what, "threads") == 0) several_threads(communicate);
  if (strcmp(what, "collectives") == 0) several_threads(exchange);
  if (strcmp(what, "kinds") == 0) several_threads(meet);
  if (strcmp(what, "shortlived") == 0) shortlived();
  if (strcmp(what, "failing") == 0) failing();
  if (strcmp(what, "null") == 0) null();
  if (strcmp(what, "truncated") == 0) truncated();
  if (strcmp(what, "handler") == 0) handler();
  if (strcmp(what, "jumps") == 0) jumps();
  if (strcmp(what, "logs") == 0) logs();
  if (strcmp(what, "fibers") == 0) fibers();
  if (strcmp(what, "contexts") == 0) contexts();
  if (strcmp(what, "unseen") == 0) unseen();
  if (strcmp(what, "unmapped") == 0) unmapped();
  if (strcmp(what, "seen") == 0) seen();
  if (strcmp(what, "within") == 0) within();
  if (strcmp(what, "leftover") == 0) leftover();
  if (strcmp(what, "pcontrol") == 0) pcontrol();
  if (strcmp(what, "unreadable") == 0) unreadable();
  if (strcmp(what, "children") == 0) signal(SIGCHLD, count_child);
  fflush(stdout);
  if (strcmp(what, "closed") == 0) {
    for (int file = 0; file < 3; ++file) close(file);
  }
  MPI_Finalize();
  if (strcmp(what, "children") == 0)
    printf("%d children, %d to wait for\n", (int)children, waitpid(-1, NULL, WNOHANG) > 0);
  return 0;
}
