#include "libprofile/interpose/outermost_call.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "libprofile/system/process_memory.hpp"

namespace halcyon {
namespace {

constexpr std::uintptr_t farthest = std::uintptr_t{64} << 10;  // bytes of stack that MPI takes for calls of its own
constexpr std::uint32_t many_inside = 128;

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

bool is_on_signal_stack() {
  stack_t now{};
  return syscall(SYS_sigaltstack, nullptr, &now) == 0 && (static_cast<unsigned>(now.ss_flags) & SS_ONSTACK) != 0;
}

// The stack may be another's by now, or none.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool still_has(const std::uintptr_t* place,
                                                                     std::uintptr_t value) {
  return is_readable(place) && *place == value;
}

}  // namespace

// A call may be left unnoticed when an error handler throws, jumps by the compiler's own means, or goes on in another
// fiber. Then calls are made from higher on the stack, or from another one, or the place to which the call would have
// returned is mostly soon overwritten. The stack is not searched for the call: a mistake in the tables that this takes
// would end the program.
bool OutermostCall::is_still_around(Caller caller) {
  if (frame_ == &own_work) return true;
  if (frame_ == caller.frame) return false;
  const int saved_errno = errno;
  const std::uintptr_t below = number_of(frame_) - number_of(caller.frame);  // huge if it is above
  const bool may_be_inside = below < farthest || is_on_signal_stack();
  const bool is_around = may_be_inside && still_has(place_of_return_, returns_to_) && !has_too_many_inside(caller);
  errno = saved_errno;
  return is_around;
}

// MPI itself may make any number of calls within one, but what the program gives it to call makes few.
bool OutermostCall::has_too_many_inside(Caller caller) {
  ++calls_inside_;
  if (calls_inside_ < many_inside || !std::has_single_bit(calls_inside_)) return false;
  if (!are_of_one_file(number_of(caller.site), returns_to_)) return false;
  was_given_up_ = true;
  return true;
}

}  // namespace halcyon
