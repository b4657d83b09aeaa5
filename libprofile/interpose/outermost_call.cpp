#include "libprofile/interpose/outermost_call.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace halcyon {
namespace {

constexpr std::uintptr_t surely_there = std::uintptr_t{16} << 10;  // bytes of stack above a frame, with frames above it
constexpr std::uintptr_t farthest = std::uintptr_t{64} << 10;      // bytes of stack that MPI takes for calls of its own

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

bool is_on_signal_stack() {
  stack_t now{};
  return syscall(SYS_sigaltstack, nullptr, &now) == 0 && (static_cast<unsigned>(now.ss_flags) & SS_ONSTACK) != 0;
}

// The kernel minds no memory that is not there.
bool is_still_there(const std::uintptr_t* place, std::uintptr_t value) {
  std::uintptr_t now = 0;
  const iovec to{&now, sizeof now};
  const iovec from{const_cast<std::uintptr_t*>(place), sizeof now};
  return syscall(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0) == static_cast<long>(sizeof now) && now == value;
}

}  // namespace

// A call may be left unnoticed when an error handler throws, or goes on in another fiber. Then calls are made from
// higher on the stack, or from another one, or the place to which the call would have returned is soon overwritten. The
// stack is not searched for the call: a mistake in the tables that this takes would end the program.
bool OutermostCall::is_still_around(Caller caller) const {
  if (frame_ == &own_work) return true;
  if (frame_ == caller.frame) return false;
  const std::uintptr_t below = number_of(frame_) - number_of(caller.frame);  // huge if it is above
  if (below < surely_there) return *place_of_return_ == returns_to_;
  const int saved_errno = errno;
  const bool may_be_inside = below < farthest || is_on_signal_stack();
  const bool is_around = may_be_inside && is_still_there(place_of_return_, returns_to_);
  errno = saved_errno;
  return is_around;
}

}  // namespace halcyon
