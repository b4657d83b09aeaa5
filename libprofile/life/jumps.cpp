// The functions by which a program leaves a call without returning from it: an error handler of MPI's, or a signal's,
// may jump. Async-signal-safe.
#include <setjmp.h>

#include "libprofile/interpose/interposed.hpp"
#include "libprofile/record/threads.hpp"

namespace halcyon {
namespace {

// A jump may also end where the call is still around. What is called from there then counts as the program's.
template <class Function>
[[noreturn]] void jump(Interposed<Function>& function, jmp_buf to, int value) {
  if (this_thread != nullptr) this_thread->outermost.leave();
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
}

HALCYON_INTERPOSE(longjmp);
HALCYON_INTERPOSE(_longjmp);
HALCYON_INTERPOSE(siglongjmp);
HALCYON_INTERPOSE(__longjmp_chk);

void halcyon_longjmp(jmp_buf to, int value) { halcyon::jump(halcyon_at_longjmp, to, value); }
void halcyon__longjmp(jmp_buf to, int value) { halcyon::jump(halcyon_at__longjmp, to, value); }
void halcyon_siglongjmp(jmp_buf to, int value) { halcyon::jump(halcyon_at_siglongjmp, to, value); }
void halcyon___longjmp_chk(jmp_buf to, int value) { halcyon::jump(halcyon_at___longjmp_chk, to, value); }
