// dies BARRIERS HOW [RANK]: meets so many barriers, segment i with i % 3 sends, and then the rank (or all) ends so:
//   finalize | abort | fatal (an error, which MPI answers) | exit | _exit | quick_exit | return | segv | overflow (of
//   the stack) | small_stack:N (segv, where signal handlers have so many bytes) | signal:N | replaced:N (the handler
//   that is there is replaced by one that calls it with the number alone, and then signal:N) | own:N (a handler of its
//   own sets the default and sends the signal again) | once (a handler of its own is for one fault, and returns from
//   it) | default (one sets the default, and returns from a fault) | sends:FUNCTION:N (the signal to itself) | killed
//   (by a signal that no library sends) | no_files:N (signal:N, where it may have no descriptors) | no_room:N
//   (signal:N, where the kernel has no room for another one) | unsent:N (the signal, which fails before the barriers:
//   it has no room) | jumps (by abort, after a handler has jumped out of one before the barriers) | exec (another
//   program, which finds its argument and its environment) | no_exec (one that is not there, then finalize) |
//   survives:N (signal:N by the first process of a container, then finalize) | exits (the main thread and many others
//   at once) | late (quick_exit, where a function that was registered before MPI_Init calls MPI_Finalize) | answered:N
//   (a handler that was there before MPI_Init returns; its files may have no more bytes then; finalize) | child:N (a
//   forked child, then finalize) | vfork (a child that calls _exit, then finalize) | quota:N (its files may have N
//   bytes, then finalize) | writing (finalize, after telling its children the rank's process in DIES_PROCESS) | closes
//   (all files above those of the MPI library, then finalize) | opens (saves its records, as another rank may ask it
//   to, and opens files up to its limit, then finalize) | no_memory:N (it gets N bytes more at most, then finalize) |
//   filtered (no memory of another rank may be read, then finalize) | uncapable (it gives up the capabilities that its
//   user has, then finalize) | cuts (its live record to nothing, then one more
//   barrier, and abort) | merging:N (a signal comes in MPI_Finalize, where the rank waits for the others, which never
//   come) |
//   starved (it gets no more memory, and aborts) | thread_late (another thread calls exit, and a function for atexit
//   MPI_Finalize) |
//   deadlock (the rank waits for a message that nobody sends, after three boundaries to which it came last) | waits
//   (for a signal, after saying "ready")
// Where BARRIERS is a path, barriers are met until there is such a file or directory, with a rest before each, so that
// those who look at the run get a processor.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void segment(long i) {
  int nothing = 0;
  for (long send = 0; send < i % 3; ++send) MPI_Send(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void until_there(const char* path, int rank) {
  const struct timespec rest = {.tv_nsec = 200000};
  struct stat state;
  for (long i = 0, there = 0; !there; ++i) {
    nanosleep(&rest, NULL);
    segment(i);
    if (i % 100 != 0) continue;
    if (rank == 0) there = stat(path, &state) == 0;
    MPI_Bcast(&there, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  }
}

static void signal_soon(int number) {
  const struct itimerspec soon = {.it_value = {.tv_nsec = 200000000}};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &soon, NULL);
}

// Longer than the time between two looks of the recorder, so that readers of the run see each of them.
static void come_late(int is_late) {
  const struct timespec late = {.tv_nsec = 200000000};
  for (int i = 0; i < 3; ++i) {
    if (is_late) nanosleep(&late, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Returns when all ranks have left the last barrier: whoever ends before may take another one's last segment.
static void wait_for_all(int rank) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int other = 1; other < ranks; ++other) {
    MPI_Sendrecv(NULL, 0, MPI_INT, (rank + other) % ranks, 1, NULL, 0, MPI_INT, (rank + ranks - other) % ranks, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// What a rank does alone, before it goes on with the others.
static int goes_on(const char* how) {
  return strcmp(how, "finalize") == 0 || strncmp(how, "quota:", 6) == 0 || strcmp(how, "writing") == 0 ||
         strcmp(how, "closes") == 0 || strcmp(how, "opens") == 0 || strcmp(how, "vfork") == 0 ||
         strcmp(how, "cuts") == 0 || strcmp(how, "late") == 0 || strcmp(how, "no_exec") == 0 ||
         strncmp(how, "no_memory:", 10) == 0 || strcmp(how, "filtered") == 0 || strcmp(how, "uncapable") == 0 ||
         strncmp(how, "survives:", 9) == 0;
}

static int overflow(int depth);
static int (*volatile deeper)(int) = overflow;  // no compiler makes a loop of it
static int overflow(int depth) {
  volatile char filled[4096];
  filled[depth % 4096] = (char)depth;
  return deeper(depth + 1) + filled[depth % 4096];
}

// Whoever uses more than the stack gets to a page that is not there.
static void fault_on_small_stack(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* const memory = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, page, PROT_NONE);
  const stack_t small = {.ss_sp = memory + page, .ss_size = bytes};
  sigaltstack(&small, NULL);
  *(volatile int*)0 = 1;
}

// The test must have a directory of its own for live records: those of other runs are not to be cut.
static void cut_live_record(void) {
  const char* root = getenv("HALCYON_LIVE_DIR");
  char directory[400];
  snprintf(directory, sizeof directory, "%s/halcyon-%u", root != NULL ? root : "/nowhere", (unsigned)geteuid());
  DIR* entries = opendir(directory);
  for (struct dirent* entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    char path[800];
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    if (entry->d_name[0] != '.' && truncate(path, 0) != 0) perror(path);
  }
}

static struct sigaction before;
static void go_on(int number) {
  if (before.sa_handler == SIG_DFL) {
    signal(number, SIG_DFL);
    raise(number);
  } else {
    // A program that has it from signal() has no more than the number. What is then in the place of the rest is
    // anything.
    before.sa_sigaction(number, (siginfo_t*)1, (void*)2);
  }
}
static void replace_handler(int number) {
  const struct sigaction ours = {.sa_handler = go_on};
  sigaction(number, &ours, &before);
}

static void send_to_itself(const char* function, int number) {
  const union sigval value = {.sival_int = 0};
  setpgid(0, 0);  // else the launcher, and what started it, would get the signal, too
  if (strncmp(function, "raise:", 6) == 0) raise(number);
  if (strncmp(function, "kill:", 5) == 0) kill(getpid(), number);
  if (strncmp(function, "group:", 6) == 0) kill(0, number);
  if (strncmp(function, "killpg:", 7) == 0) killpg(getpgrp(), number);
  if (strncmp(function, "sigqueue:", 9) == 0) sigqueue(getpid(), number, value);
  if (strncmp(function, "tgkill:", 7) == 0) tgkill(getpid(), gettid(), number);
  if (strncmp(function, "pthread_kill:", 13) == 0) pthread_kill(pthread_self(), number);
}

static void do_nothing(int number) { (void)number; }
static void set_default(int number) { signal(number, SIG_DFL); }
static void handle_faults(void (*handler)(int), int flags) {
  const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(SIGSEGV, &action, NULL);
}

static pthread_barrier_t all_there;
static void* exit_at_once(void* is_odd) {
  pthread_barrier_wait(&all_there);
  if (is_odd != NULL) _exit(7);
  exit(7);
}
static void exit_everywhere(void) {
  enum { threads = 100 };
  pthread_t thread;
  pthread_barrier_init(&all_there, NULL, threads + 1);
  for (int i = 0; i < threads; ++i) pthread_create(&thread, NULL, exit_at_once, i % 2 == 1 ? &thread : NULL);
  exit_at_once(NULL);
}
static void send_again(int number) {
  signal(number, SIG_DFL);
  raise(number);
}
static volatile sig_atomic_t answers;
static void answer(int number) {
  (void)number;
  ++answers;
}
static void finalize_late(void) {
  int is_initialized = 0, is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_initialized && !is_finalized) MPI_Finalize();
}

static void* exit_well(void* unused) {
  (void)unused;
  exit(0);
}

static void limit_to(int resource, long most) {
  struct rlimit limit;
  getrlimit(resource, &limit);
  limit.rlim_cur = most;
  setrlimit(resource, &limit);
}

// In what is left, the stack can grow.
static void limit_memory(long more) {
  long pages = 0;
  FILE* const sizes = fopen("/proc/self/statm", "r");
  if (fscanf(sizes, "%ld", &pages) != 1) abort();
  fclose(sizes);
  limit_to(RLIMIT_AS, pages * sysconf(_SC_PAGESIZE) + more);
}

// The kernel no longer lets the process read the memory of another one, as MPI libraries do for long messages.
static void refuse_to_read_others(void) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) abort();
}

static void give_up_capabilities(void) {
  struct __user_cap_header_struct version = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}};
  if (syscall(SYS_capset, &version, none) != 0) abort();
}

// It comes when there is no room for a second one.
static void signal_without_room(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigprocmask(SIG_BLOCK, &one, NULL);
  raise(number);
  limit_to(RLIMIT_SIGPENDING, 0);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
}
static void fail_to_signal(int number) {
  struct rlimit before_that;
  getrlimit(RLIMIT_SIGPENDING, &before_that);
  limit_to(RLIMIT_SIGPENDING, 0);
  if (sigqueue(getpid(), number, (union sigval){.sival_int = 0}) == 0) fputs("the signal was sent\n", stderr);
  setrlimit(RLIMIT_SIGPENDING, &before_that);
}

static sigjmp_buf outside;
static void jump(int number) { siglongjmp(outside, number); }
static void jump_out_of_abort(void) {
  signal(SIGABRT, jump);
  if (sigsetjmp(outside, 1) == 0) abort();
  signal(SIGABRT, SIG_DFL);
}

int main(int argc, char** argv) {
  int rank = 0;
  if (argc > 2 && strcmp(argv[2], "late") == 0) at_quick_exit(finalize_late);
  if (argc > 2 && strncmp(argv[2], "answered:", 9) == 0) signal(atoi(argv[2] + 9), answer);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strncmp(argv[2], "quota:", 6) == 0 && atoi(argv[3]) == rank) limit_to(RLIMIT_FSIZE, atol(argv[2] + 6));
  const char* how = argv[2];
  if (strncmp(how, "unsent:", 7) == 0) fail_to_signal(atoi(how + 7));
  if (strcmp(how, "jumps") == 0) jump_out_of_abort();
  if (argv[1][0] == '/') {
    until_there(argv[1], rank);
  } else {
    for (long i = 0; i < atol(argv[1]); ++i) segment(i);
  }
  if (!goes_on(how) && strcmp(how, "deadlock") != 0) wait_for_all(rank);
  if (strcmp(how, "deadlock") == 0) come_late(atoi(argv[3]) == rank);
  if (argc < 4 || atoi(argv[3]) == rank) {
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(how, "fatal") == 0) MPI_Bcast(&rank, -1, MPI_INT, 0, MPI_COMM_WORLD);
    if (strcmp(how, "exit") == 0) exit(7);
    if (strcmp(how, "_exit") == 0) _exit(7);
    if (strcmp(how, "quick_exit") == 0) quick_exit(7);
    if (strcmp(how, "return") == 0) return 0;
    if (strcmp(how, "segv") == 0) *(volatile int*)0 = 1;
    if (strcmp(how, "overflow") == 0) overflow(0);
    if (strncmp(how, "small_stack:", 12) == 0) fault_on_small_stack(atol(how + 12));
    if (strcmp(how, "vfork") == 0 && vfork() == 0) _exit(0);
    if (strcmp(how, "cuts") == 0) cut_live_record();
    if (strcmp(how, "opens") == 0) {
      raise(SIGURG);
      while (open("/dev/null", O_RDONLY) >= 0) continue;
    }
    if (strncmp(how, "signal:", 7) == 0) raise(atoi(how + 7));
    if (strncmp(how, "replaced:", 9) == 0) {
      replace_handler(atoi(how + 9));
      raise(atoi(how + 9));
    }
    if (strncmp(how, "own:", 4) == 0) {
      signal(atoi(how + 4), send_again);
      raise(atoi(how + 4));
    }
    if (strncmp(how, "sends:", 6) == 0) send_to_itself(how + 6, atoi(strrchr(how, ':') + 1));
    if (strcmp(how, "killed") == 0) syscall(SYS_kill, getpid(), SIGKILL);
    if (strcmp(how, "once") == 0) handle_faults(do_nothing, SA_RESETHAND | SA_NODEFER);
    if (strcmp(how, "default") == 0) handle_faults(set_default, 0);
    if (strcmp(how, "once") == 0 || strcmp(how, "default") == 0) *(volatile int*)0 = 1;
    if (strncmp(how, "no_files:", 9) == 0) {
      limit_to(RLIMIT_NOFILE, 0);
      raise(atoi(how + 9));
    }
    if (strncmp(how, "no_room:", 8) == 0) signal_without_room(atoi(how + 8));
    if (strncmp(how, "unsent:", 7) == 0) kill(getpid(), atoi(how + 7));
    if (strcmp(how, "jumps") == 0) abort();
    if (strcmp(how, "exec") == 0) {
      char* const environment[] = {"STATUS=7", NULL};
      execle("/bin/sh", "sh", "-c", "exit $(($STATUS + $1))", "sh", "0", NULL, environment);
    }
    if (strcmp(how, "no_exec") == 0) execl("/nonexistent", "nonexistent", NULL);
    if (strncmp(how, "survives:", 9) == 0) {
      raise(atoi(how + 9));
      kill(getpid(), atoi(how + 9));
      signal(atoi(how + 9), SIG_DFL);
      raise(atoi(how + 9));
    }
    if (strcmp(how, "exits") == 0) exit_everywhere();
    if (strcmp(how, "late") == 0) quick_exit(0);
    if (strncmp(how, "no_memory:", 10) == 0) limit_memory(atol(how + 10));
    if (strcmp(how, "filtered") == 0) refuse_to_read_others();
    if (strcmp(how, "uncapable") == 0) give_up_capabilities();
    if (strcmp(how, "starved") == 0) {
      limit_memory(0);
      abort();
    }
    if (strcmp(how, "thread_late") == 0) {
      pthread_t thread;
      atexit(finalize_late);
      pthread_create(&thread, NULL, exit_well, NULL);
      for (;;) pause();
    }
    if (strncmp(how, "answered:", 9) == 0) {
      limit_to(RLIMIT_FSIZE, 0);
      raise(atoi(how + 9));
      printf("answered %d\n", (int)answers);
    }
    if (strncmp(how, "merging:", 8) == 0) signal_soon(atoi(how + 8));
    if (strcmp(how, "writing") == 0) {
      char process[20];
      snprintf(process, sizeof process, "%d", (int)getpid());
      setenv("DIES_PROCESS", process, 1);
    }
    if (strcmp(how, "waits") == 0) {
      if (rank == 0) fputs("ready\n", stderr);
      for (;;) pause();
    }
    if (strcmp(how, "deadlock") == 0) {
      int message = 0;
      MPI_Recv(&message, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(how, "closes") == 0) {
      for (int file = 512; file < 1024; ++file) close(file);
    }
    if (strncmp(how, "child:", 6) == 0) {
      const pid_t child = fork();
      if (child == 0) raise(atoi(how + 6));
      waitpid(child, NULL, 0);
    }
  } else if (strncmp(how, "merging:", 8) == 0) {
    for (;;) pause();
  } else if (!goes_on(how)) {
    MPI_Barrier(MPI_COMM_WORLD);  // waits for who does not come
  }
  if (strcmp(how, "cuts") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 9);
  }
  MPI_Finalize();
  return 0;
}
