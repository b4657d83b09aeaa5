// The functions by which a process ends itself, or MPI has its launcher end the job: the records are saved first.
#include "libprofile/life/exits.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "libprofile/interpose/next.hpp"
#include "libprofile/life/exit_gate.hpp"
#include "libprofile/life/signals.hpp"
#include "libprofile/system/direct_calls.hpp"

namespace halcyon {
namespace {

// Found when the library is loaded: searching is not async-signal-safe, and these must be.
void (*next_exit)(int);
int (*next_raise)(int);
int (*next_kill)(pid_t, int);
void (*next_abort)();

template <class Function>
void find(Function& next, const char* name) {
  next = reinterpret_cast<Function>(find_next(name));
}
[[gnu::constructor]] void find_next_functions() {
  find(next_exit, "_exit");
  find(next_raise, "raise");
  find(next_kill, "kill");
  find(next_abort, "abort");
}

// The function that `caller` would have called: one of PMI's, which may be in a library that only the caller's sees.
template <class Function>
Function next_for(const char* name, const void* caller) {
  void* next = dlsym(RTLD_NEXT, name);
  Dl_info info{};
  if (next == nullptr && dladdr(caller, &info) != 0 && info.dli_fname != nullptr) {
    void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) next = dlsym(library, name);
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

[[noreturn]] void exit_at_once(int status) {
  if (has_to_keep()) leave_by_exit();
  if (next_exit != nullptr) next_exit(status);
  for (;;) syscall(SYS_exit_group, status);
}

void prepare_for(int signal, Receiver receiver) {
  const int saved_errno = errno;
  prepare_for_own_signal(signal, receiver);
  errno = saved_errno;
}

int raise_signal(int signal) {
  prepare_for(signal, Receiver::thread);
  if (next_raise != nullptr) return next_raise(signal);
  return static_cast<int>(syscall(SYS_tgkill, getpid(), direct::thread_id(), signal));
}

int send_signal(pid_t process, int signal) {
  if (process == getpid()) prepare_for(signal, Receiver::process);
  if (next_kill != nullptr) return next_kill(process, signal);
  return static_cast<int>(syscall(SYS_kill, process, signal));
}

[[noreturn]] void abort_process() {
  prepare_for_abort();
  if (next_abort != nullptr) next_abort();
  for (;;) syscall(SYS_exit_group, 128 + SIGABRT);
}

}  // namespace

void save_at_quick_exit() {
  at_quick_exit([] {
    if (has_to_keep()) leave_by_exit();
  });
}

}  // namespace halcyon

// The asm labels avoid the headers' declarations of these names.
extern "C" {
HALCYON_EXPORT void halcyon_exit_at_once(int status) __asm__("_exit");
HALCYON_EXPORT void halcyon_Exit(int status) __asm__("_Exit");
HALCYON_EXPORT int halcyon_raise(int signal) __asm__("raise");
HALCYON_EXPORT int halcyon_kill(pid_t process, int signal) __asm__("kill");
HALCYON_EXPORT void halcyon_abort(void) __asm__("abort");
HALCYON_EXPORT int halcyon_pmix_abort(int, const char*, void*, std::size_t) __asm__("PMIx_Abort");
HALCYON_EXPORT int halcyon_pmi_abort(int, const char*) __asm__("PMI_Abort");
HALCYON_EXPORT int halcyon_pmi2_abort(int, const char*) __asm__("PMI2_Abort");

void halcyon_exit_at_once(int status) { halcyon::exit_at_once(status); }
void halcyon_Exit(int status) { halcyon::exit_at_once(status); }
void halcyon_abort(void) { halcyon::abort_process(); }
int halcyon_raise(int signal) { return halcyon::raise_signal(signal); }
int halcyon_kill(pid_t process, int signal) { return halcyon::send_signal(process, signal); }

int halcyon_pmix_abort(int status, const char* message, void* processes, std::size_t count) {
  return halcyon::end_job("PMIx_Abort", __builtin_return_address(0), status, message, processes, count);
}
int halcyon_pmi_abort(int status, const char* message) {
  return halcyon::end_job("PMI_Abort", __builtin_return_address(0), status, message);
}
int halcyon_pmi2_abort(int flag, const char* message) {
  return halcyon::end_job("PMI2_Abort", __builtin_return_address(0), flag, message);
}
}
