// The functions by which a process ends itself, or MPI has its launcher end the job: the records are saved first.
#include "libprofile/life/exits.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

#include "libprofile/interpose/next.hpp"
#include "libprofile/life/exit_gate.hpp"

namespace halcyon {
namespace {

// Found when the library is loaded: searching is not async-signal-safe, and _exit must be.
void (*next_exit)(int);

[[gnu::constructor]] void find_next_exit() { next_exit = reinterpret_cast<void (*)(int)>(find_next("_exit")); }

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
HALCYON_EXPORT int halcyon_pmix_abort(int, const char*, void*, std::size_t) __asm__("PMIx_Abort");
HALCYON_EXPORT int halcyon_pmi_abort(int, const char*) __asm__("PMI_Abort");
HALCYON_EXPORT int halcyon_pmi2_abort(int, const char*) __asm__("PMI2_Abort");

void halcyon_exit_at_once(int status) { halcyon::exit_at_once(status); }
void halcyon_Exit(int status) { halcyon::exit_at_once(status); }

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
