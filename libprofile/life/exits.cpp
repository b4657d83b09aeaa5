// The functions by which a process ends itself, or MPI has its launcher end the job: the records are saved first. All
// but those of PMI are async-signal-safe.
#include "libprofile/life/exits.hpp"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "libprofile/interpose/interposed.hpp"
#include "libprofile/interpose/next.hpp"
#include "libprofile/life/exit_gate.hpp"
#include "libprofile/life/other_loader.hpp"
#include "libprofile/life/signals.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/system/direct_calls.hpp"

namespace halcyon {
namespace {

// The function that `caller` would have called: one of PMI's, which may be in a library that only the caller's sees.
template <class Function>
Function next_for(const char* name, const void* caller) {
  void* next = find_symbol(RTLD_NEXT, name);
  Dl_info info{};
  if (next == nullptr && dladdr(caller, &info) != 0 && info.dli_fname != nullptr) {
    void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) next = find_symbol(library, name);
  }
  return reinterpret_cast<Function>(next);
}

// `abort`: a function of PMI, which tells the launcher to end the job.
template <class... Arguments>
int end_job(const char* abort, const void* caller, Arguments... arguments) {
  if (has_to_keep()) leave(part_was_aborted);
  const auto next = next_for<int (*)(Arguments...)>(abort, caller);
  return next != nullptr ? next(arguments...) : -1;
}

template <class Function>
[[noreturn]] void exit_at_once(Interposed<Function>& function, int status) {
  if (has_to_keep()) leave_by_exit();
  function.next()(status);
  for (;;) syscall(SYS_exit_group, status);
}

// A call that sends a signal, which this process may get: `receiver` says by which of its threads.
template <class Send>
int send(bool is_to_us, int number, Receiver receiver, Send send) {
  const int saved_errno = errno;
  if (is_to_us) prepare_for_own_signal(number, receiver);
  errno = saved_errno;
  const int result = send();
  if (is_to_us && result != 0) own_signal_was_not_sent(number);
  return result;
}

// As kill() reads it. -1 means all processes but this one.
bool is_to_us(pid_t process) { return process == getpid() || process == 0 || (process < -1 && -process == getpgrp()); }

Receiver receiver_of(bool is_this_thread) { return is_this_thread ? Receiver::thread : Receiver::process; }
Receiver receiver_of(pthread_t thread) { return receiver_of(pthread_equal(thread, pthread_self()) != 0); }

bool can_be_run(const char* path) { return access(path, X_OK) == 0; }

using Path = std::array<char, PATH_MAX>;

// The program that execvp finds: in PATH, if `file` has no slash. Null if there is none.
const char* found(const char* file, Path& path) {
  if (file == nullptr || std::strchr(file, '/') != nullptr) return file != nullptr && can_be_run(file) ? file : nullptr;
  const char* directories = std::getenv("PATH");
  for (const char* at = directories != nullptr ? directories : "/bin:/usr/bin";; ++at) {
    const char* const end = strchrnul(at, ':');
    const std::size_t length = static_cast<std::size_t>(end - at);
    if (length + 1 + std::strlen(file) < path.size()) {
      char* const name = std::copy(at, end, path.begin());
      *name = '/';
      std::strcpy(length > 0 ? name + 1 : name, file);
      if (can_be_run(path.data())) return path.data();
    }
    at = end;
    if (*at == '\0') return nullptr;
  }
}

bool can_be_found(const char* file) {
  Path path;
  return found(file, path) != nullptr;
}
bool found_is_for_other_loader(const char* file) {
  Path path;
  const int saved_errno = errno;
  const char* const program = found(file, path);
  errno = saved_errno;
  return program != nullptr && is_for_other_loader(program);
}

// A call that puts another program into the place of this one; it returns only if that fails. `can_run()`: that
// program. What cannot be run disturbs nobody.
template <class CanRun, class Execute>
int become(CanRun can_run, Execute execute) {
  const int saved_errno = errno;
  const bool may_end_us = has_to_keep() && can_run();
  if (may_end_us) {
    leave_to_another_program();
    recorder->live.leave();  // the other ranks must not ask the other program to save
  }
  errno = saved_errno;
  const int result = execute();
  if (may_end_us) recorder->live.go_on();
  return result;
}

// To be called by each thread that exits. False in the first, also when that one calls exit() again.
bool another_thread_exits() {
  static std::atomic<pid_t> first{0};
  const pid_t own = direct::thread_id();
  pid_t seen = 0;
  return !first.compare_exchange_strong(seen, own) && seen != own;
}

// The arguments of execl and its like, as an array on the stack of `function`.
#define ARGUMENTS_AFTER(function_argument, name)                                                         \
  va_list rest;                                                                                          \
  va_start(rest, function_argument);                                                                     \
  std::size_t count = 1;                                                                                 \
  for (const char* word = function_argument; word != nullptr; ++count) word = va_arg(rest, const char*); \
  va_end(rest);                                                                                          \
  auto** name = static_cast<char**>(alloca(count * sizeof(char*)));                                      \
  name[0] = const_cast<char*>(function_argument);                                                        \
  va_start(rest, function_argument);                                                                     \
  for (std::size_t i = 1; i < count; ++i) name[i] = va_arg(rest, char*)

}  // namespace

void watch_exits() {
  at_quick_exit([] {
    if (has_to_keep()) leave_by_exit();
  });
  std::atexit([] {  // `main` returns, which no wrapper sees
    if (another_thread_exits() && has_to_keep()) leave_by_exit();
  });
}

}  // namespace halcyon

using namespace halcyon;

extern "C" {
[[noreturn]] void halcyon_exit(int status);
[[noreturn]] void halcyon__exit(int status);
[[noreturn]] void halcyon__Exit(int status);
[[noreturn]] void halcyon_abort();
int halcyon_raise(int number);
int halcyon_kill(pid_t process, int number);
int halcyon_killpg(pid_t group, int number);
int halcyon_sigqueue(pid_t process, int number, union sigval value);
int halcyon_tgkill(pid_t process, pid_t thread, int number);
int halcyon_pthread_kill(pthread_t thread, int number);
int halcyon_pthread_sigqueue(pthread_t thread, int number, union sigval value);
int halcyon_execve(const char* path, char* const arguments[], char* const environment[]);
int halcyon_execv(const char* path, char* const arguments[]);
int halcyon_execvp(const char* file, char* const arguments[]);
int halcyon_execvpe(const char* file, char* const arguments[], char* const environment[]);
int halcyon_fexecve(int file, char* const arguments[], char* const environment[]);
int halcyon_execveat(int directory, const char* path, char* const arguments[], char* const environment[], int flags);
int halcyon_posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]);
int halcyon_posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                         const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]);
int halcyon_execl(const char* path, const char* argument, ...);
int halcyon_execle(const char* path, const char* argument, ...);
int halcyon_execlp(const char* file, const char* argument, ...);
}

HALCYON_INTERPOSE(exit);
HALCYON_INTERPOSE(_exit);
HALCYON_INTERPOSE(_Exit);
HALCYON_INTERPOSE(abort);
HALCYON_INTERPOSE(raise);
HALCYON_INTERPOSE(kill);
HALCYON_INTERPOSE(killpg);
HALCYON_INTERPOSE(sigqueue);
HALCYON_INTERPOSE(tgkill);
HALCYON_INTERPOSE(pthread_kill);
HALCYON_INTERPOSE(pthread_sigqueue);
HALCYON_INTERPOSE(execve);
HALCYON_INTERPOSE(execv);
HALCYON_INTERPOSE(execvp);
HALCYON_INTERPOSE(execvpe);
HALCYON_INTERPOSE(fexecve);
HALCYON_INTERPOSE(execveat);
HALCYON_INTERPOSE(posix_spawn);
HALCYON_INTERPOSE(posix_spawnp);
HALCYON_INTERPOSE(execl);
HALCYON_INTERPOSE(execle);
HALCYON_INTERPOSE(execlp);

// There may be more to do in functions for atexit, such as MPI_Finalize: what these leave is saved at their end. But
// where several threads are in it, the one that is through first ends the process, whatever the others still do.
void halcyon_exit(int status) {
  if (another_thread_exits() && has_to_keep()) leave_by_exit();
  halcyon_at_exit.next()(status);
  for (;;) syscall(SYS_exit_group, status);
}
void halcyon__exit(int status) { exit_at_once(halcyon_at__exit, status); }
void halcyon__Exit(int status) { exit_at_once(halcyon_at__Exit, status); }
void halcyon_abort() {
  prepare_for_abort();
  halcyon_at_abort.next()();
  for (;;) syscall(SYS_exit_group, 128 + SIGABRT);
}

int halcyon_raise(int number) {
  return send(true, number, Receiver::thread, [=] { return halcyon_at_raise.next()(number); });
}
int halcyon_kill(pid_t process, int number) {
  return send(is_to_us(process), number, Receiver::process, [=] { return halcyon_at_kill.next()(process, number); });
}
int halcyon_killpg(pid_t group, int number) {
  return send(group == 0 || group == getpgrp(), number, Receiver::process,
              [=] { return halcyon_at_killpg.next()(group, number); });
}
int halcyon_sigqueue(pid_t process, int number, union sigval value) {
  return send(process == getpid(), number, Receiver::process,
              [=] { return halcyon_at_sigqueue.next()(process, number, value); });
}
int halcyon_tgkill(pid_t process, pid_t thread, int number) {
  return send(process == getpid(), number, receiver_of(thread == direct::thread_id()),
              [=] { return halcyon_at_tgkill.next()(process, thread, number); });
}
int halcyon_pthread_kill(pthread_t thread, int number) {
  return send(true, number, receiver_of(thread), [=] { return halcyon_at_pthread_kill.next()(thread, number); });
}
int halcyon_pthread_sigqueue(pthread_t thread, int number, union sigval value) {
  return send(true, number, receiver_of(thread),
              [=] { return halcyon_at_pthread_sigqueue.next()(thread, number, value); });
}

int halcyon_execve(const char* path, char* const arguments[], char* const environment[]) {
  return become([=] { return can_be_run(path); },
                [=] {
                  return execute_with(
                      environment, [=] { return is_for_other_loader(path); },
                      [=](char* const* all) { return halcyon_at_execve.next()(path, arguments, all); });
                });
}
int halcyon_execv(const char* path, char* const arguments[]) {
  return become([=] { return can_be_run(path); },
                [=] {
                  return execute_with(
                      environ, [=] { return is_for_other_loader(path); },
                      [=](char* const* all) {
                        return all == environ ? halcyon_at_execv.next()(path, arguments)
                                              : halcyon_at_execve.next()(path, arguments, all);
                      });
                });
}
int halcyon_execvp(const char* file, char* const arguments[]) {
  return become([=] { return can_be_found(file); },
                [=] {
                  return execute_with(
                      environ, [=] { return found_is_for_other_loader(file); },
                      [=](char* const* all) {
                        return all == environ ? halcyon_at_execvp.next()(file, arguments)
                                              : halcyon_at_execvpe.next()(file, arguments, all);
                      });
                });
}
int halcyon_execvpe(const char* file, char* const arguments[], char* const environment[]) {
  return become([=] { return can_be_found(file); },
                [=] {
                  return execute_with(
                      environment, [=] { return found_is_for_other_loader(file); },
                      [=](char* const* all) { return halcyon_at_execvpe.next()(file, arguments, all); });
                });
}
int halcyon_fexecve(int file, char* const arguments[], char* const environment[]) {
  return become([] { return true; },
                [=] {
                  return execute_with(
                      environment, [=] { return is_for_other_loader(file); },
                      [=](char* const* all) { return halcyon_at_fexecve.next()(file, arguments, all); });
                });
}
int halcyon_execveat(int directory, const char* path, char* const arguments[], char* const environment[], int flags) {
  return become([] { return true; },
                [=] { return halcyon_at_execveat.next()(directory, path, arguments, environment, flags); });
}
// Unlike the others, these start a process beside this one.
int halcyon_posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  return execute_with(
      environment, [=] { return is_for_other_loader(path); },
      [=](char* const* all) {
        return halcyon_at_posix_spawn.next()(process, path, actions, attributes, arguments, all);
      });
}
int halcyon_posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                         const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  return execute_with(
      environment, [=] { return found_is_for_other_loader(file); },
      [=](char* const* all) {
        return halcyon_at_posix_spawnp.next()(process, file, actions, attributes, arguments, all);
      });
}
int halcyon_execl(const char* path, const char* argument, ...) {
  ARGUMENTS_AFTER(argument, arguments);
  va_end(rest);
  return halcyon_execv(path, arguments);
}
int halcyon_execle(const char* path, const char* argument, ...) {
  ARGUMENTS_AFTER(argument, arguments);
  char* const* const environment = va_arg(rest, char* const*);
  va_end(rest);
  return halcyon_execve(path, arguments, environment);
}
int halcyon_execlp(const char* file, const char* argument, ...) {
  ARGUMENTS_AFTER(argument, arguments);
  va_end(rest);
  return halcyon_execvp(file, arguments);
}

// Their libraries may be loaded later, and nothing else has these names.
extern "C" {
HALCYON_EXPORT int halcyon_pmix_abort(int, const char*, void*, std::size_t) __asm__("PMIx_Abort");
HALCYON_EXPORT int halcyon_pmi_abort(int, const char*) __asm__("PMI_Abort");
HALCYON_EXPORT int halcyon_pmi2_abort(int, const char*) __asm__("PMI2_Abort");

int halcyon_pmix_abort(int status, const char* message, void* processes, std::size_t count) {
  return end_job("PMIx_Abort", __builtin_return_address(0), status, message, processes, count);
}
int halcyon_pmi_abort(int status, const char* message) {
  return end_job("PMI_Abort", __builtin_return_address(0), status, message);
}
int halcyon_pmi2_abort(int flag, const char* message) {
  return end_job("PMI2_Abort", __builtin_return_address(0), flag, message);
}
}
