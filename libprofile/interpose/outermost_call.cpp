#include "libprofile/interpose/outermost_call.hpp"

#include <unwind.h>

#include <functional>

#include "libprofile/interpose/known_sites.hpp"

namespace halcyon {
namespace {

struct Search {
  Caller call;
  bool found = false;
  bool passed = false;  // the stack is known beyond where the frame would be
};

_Unwind_Reason_Code look_at(_Unwind_Context* context, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  // Where this frame begins, the one that it has called ends.
  const auto* callee = reinterpret_cast<const void*>(_Unwind_GetCFA(context));
  const auto* site = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  search.found = callee == search.call.frame && site == search.call.site;
  search.passed = search.passed || std::greater<>()(callee, search.call.frame);
  return search.found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// Places from which a call once came that was inside another: MPI, or a tool, calls from there. They stay.
constinit KnownSites inner_sites;

}  // namespace

// A call may be left without our knowing: an error handler throws, or jumps. Then its frame is no longer on the stack,
// which takes too long to ask every time.
bool OutermostCall::is_still_around(Caller caller) const {
  if (call_.frame == &own_work) return true;
  if (call_.frame == caller.frame) return false;
  if (inner_sites.contains(caller.site)) return true;
  Search search{.call = call_};
  _Unwind_Backtrace(look_at, &search);
  if (search.found) inner_sites.add(caller.site);
  return search.found || !search.passed;
}

}  // namespace halcyon
