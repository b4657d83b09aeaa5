// The functions by which a program leaves a call without returning from it: an error handler of MPI's, or a signal's,
// may jump, or go on in another fiber. Async-signal-safe.
#include <setjmp.h>
#include <ucontext.h>

#include "libprofile/interpose/interposed.hpp"
#include "libprofile/record/recorder.hpp"

namespace halcyon {
namespace {

// They may also lead to where the call is still around. What is called from there then counts as the program's.
void leave_calls() {
  if (this_thread != nullptr) this_thread->leave_calls();
}

template <class Function>
[[noreturn]] void jump(Interposed<Function>& function, jmp_buf to, int value) {
  leave_calls();
  if (this_thread != nullptr && recorder != nullptr) recorder->gate.leave_change(*this_thread);
  function.next()(to, value);
  __builtin_unreachable();
}

}  // namespace
}  // namespace halcyon

extern "C" {
[[noreturn]] void halcyon_longjmp(jmp_buf to, int value);
[[noreturn]] void halcyon__longjmp(jmp_buf to, int value);
[[noreturn]] void halcyon_siglongjmp(jmp_buf to, int value);
[[noreturn]] void halcyon___longjmp_chk(jmp_buf to, int value);
int halcyon_setcontext(const ucontext_t* to);
int halcyon_swapcontext(ucontext_t* from, const ucontext_t* to);
}

HALCYON_INTERPOSE(longjmp);
HALCYON_INTERPOSE(_longjmp);
HALCYON_INTERPOSE(siglongjmp);
HALCYON_INTERPOSE(__longjmp_chk);
HALCYON_INTERPOSE(setcontext);
HALCYON_INTERPOSE(swapcontext);

void halcyon_longjmp(jmp_buf to, int value) { halcyon::jump(halcyon_at_longjmp, to, value); }
void halcyon__longjmp(jmp_buf to, int value) { halcyon::jump(halcyon_at__longjmp, to, value); }
void halcyon_siglongjmp(jmp_buf to, int value) { halcyon::jump(halcyon_at_siglongjmp, to, value); }
void halcyon___longjmp_chk(jmp_buf to, int value) { halcyon::jump(halcyon_at___longjmp_chk, to, value); }
int halcyon_setcontext(const ucontext_t* to) {
  halcyon::leave_calls();
  return halcyon_at_setcontext.next()(to);
}
// It ends by a jump to libc's, so that the context is the caller's: it may be gone to more than once.
int halcyon_swapcontext(ucontext_t* from, const ucontext_t* to) {
  halcyon::leave_calls();
  return halcyon_at_swapcontext.next()(from, to);
}
