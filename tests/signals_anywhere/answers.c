/* Handlers that are there before MPI_Init, and go on as ever, and what a program sees of the handlers it sets later:

     answers deep     needs more stack than a tool would give it
     answers tracks   notes which memory is written to, as checkpoints of what has changed do: it makes a page writable
     answers told     looks at the number that comes with each of SIGNALS signals, while the program meets barriers
     answers chains   calls the handler that was there before MPI_Init, if there was one, after its own
     answers traps    gets a signal for each invalid floating-point operation, division by zero and overflow
     answers sees     says what each function gives back that sets a handler, in this process and in a forked child
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNALS = 200, TOLD = 4711 };

static atomic_int answered, others;
static atomic_int pages;

static void use_stack(int number) {
  volatile char filled[1 << 20];
  memset((char*)filled, number, sizeof filled);
  answered += filled[number] == number;
}

static void make_writable(int number, siginfo_t* from, void* context) {
  (void)number, (void)context;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  ++pages;
  mprotect((void*)((uintptr_t)from->si_addr & -page), page, PROT_READ | PROT_WRITE);
}
static void just_answer(int number) { answered += number == SIGUSR2; }

static void track_heap(void) {
  char line[400];
  uintptr_t begin = 0, end = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "[heap]") != NULL) sscanf(line, "%lx-%lx", &begin, &end);
  }
  mprotect((void*)begin, end - begin, PROT_READ);
  raise(SIGUSR2);
  mprotect((void*)begin, end - begin, PROT_READ | PROT_WRITE);
}

static void look(int number, siginfo_t* from, void* context) {
  (void)number, (void)context;
  others += from->si_code != SI_QUEUE || from->si_value.sival_int != TOLD;
  ++answered;
}
static void* send(void* unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  for (int sent = 0; sent < SIGNALS; ++sent) {
    sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = TOLD});
    while (answered <= sent) sched_yield(); /* a second one would be merged with the first */
  }
  return unused;
}
static void meet_while_told(void) {
  pthread_t sender;
  pthread_create(&sender, NULL, send, NULL);
  while (answered < SIGNALS) MPI_Barrier(MPI_COMM_WORLD);
  pthread_join(sender, NULL);
}

static struct sigaction there_before;
static void chain(int number, siginfo_t* from, void* context) {
  ++answered;
  if (there_before.sa_handler == SIG_DFL || there_before.sa_handler == SIG_IGN) return;
  if ((there_before.sa_flags & SA_SIGINFO) != 0) {
    there_before.sa_sigaction(number, from, context);
  } else {
    there_before.sa_handler(number);
  }
}
static void chain_all(void) {
  const int numbers[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGPROF, SIGIO, SIGRTMIN};
  const struct sigaction action = {.sa_sigaction = chain, .sa_flags = SA_RESTART | SA_SIGINFO};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    sigaction(numbers[i], &action, &there_before);
    raise(numbers[i]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void set(int number, void (*handler)(int)) {
  const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(number, &action, NULL);
}
static void set_told(int number, void (*handler)(int, siginfo_t*, void*)) {
  const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_RESTART | SA_SIGINFO};
  sigaction(number, &action, NULL);
}

static void say(const char* who, const char* call, void (*handler)(int)) {
  const char* const name = handler == SIG_DFL        ? "default"
                           : handler == SIG_IGN      ? "ignored"
                           : handler == SIG_HOLD     ? "held"
                           : handler == SIG_ERR      ? "error"
                           : handler == just_answer  ? "its own"
                                                     : "another";
  fprintf(stdout, "%s: %s gives back %s\n", who, call, name);
}
static void say_what_is_set(const char* who, int number) {
  struct sigaction now = {.sa_handler = just_answer};
  sigaction(number, NULL, &now);
  say(who, "sigaction", now.sa_handler);
  printf("%s: flags %x\n", who, (unsigned)now.sa_flags);
}
static void see(void) {
  const int number = SIGTERM;
  signal(number, just_answer); /* what was there at MPI_Init may be the MPI library's */
  say("this process", "signal", signal(number, SIG_DFL));
  say_what_is_set("this process", number);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    say_what_is_set("a child", number);
    say("a child", "signal", signal(number, SIG_IGN));
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  say("this process", "sigset", sigset(number, SIG_HOLD));
  say("this process", "sigset of a held one", sigset(number, just_answer));
  say("this process", "sigset", sigset(number, SIG_DFL));
  const struct sigaction once = {.sa_handler = just_answer, .sa_flags = (int)SA_RESETHAND};
  sigaction(number, &once, NULL);
  say_what_is_set("this process", number);
  raise(number);
  say_what_is_set("this process", number);
  errno = 0;
  say("this process", "signal", signal(SIGKILL, SIG_DFL));
  printf("%s\n", strerror(errno));
}

int main(int argc, char** argv) {
  int provided;
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "deep") == 0) set(SIGUSR2, use_stack);
  if (strcmp(what, "told") == 0) set_told(SIGUSR2, look);
  if (strcmp(what, "tracks") == 0) {
    set(SIGUSR2, just_answer);
    set_told(SIGSEGV, make_writable);
  }
  const int traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
  if (strcmp(what, "traps") == 0) feenableexcept(traps);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (strcmp(what, "tracks") == 0) set_told(SIGSEGV, make_writable); /* the MPI library may have taken its place */
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "deep") == 0) raise(SIGUSR2);
  if (strcmp(what, "tracks") == 0) track_heap();
  if (strcmp(what, "told") == 0) meet_while_told();
  if (strcmp(what, "chains") == 0) chain_all();
  if (strcmp(what, "traps") == 0) {
    for (int i = 0; i < SIGNALS; ++i) MPI_Barrier(MPI_COMM_WORLD);
    printf("traps are %s\n", fegetexcept() == traps ? "as set" : "others");
  }
  if (strcmp(what, "sees") == 0) see();
  printf("%d answered, %d of them not as sent\n", (int)answered, (int)others);
  MPI_Finalize();
  return 0;
}
