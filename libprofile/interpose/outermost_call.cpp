#include "libprofile/interpose/outermost_call.hpp"

#include <unwind.h>

#include "libprofile/interpose/known_sites.hpp"

namespace halcyon {
namespace {

struct Search {
  Caller call;
  bool found = false;
};

_Unwind_Reason_Code look_at(_Unwind_Context* context, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  // The frame address that the unwinder gives is that of the function called from here.
  const auto* callee = reinterpret_cast<const void*>(_Unwind_GetCFA(context));
  const auto* site = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  search.found = callee == search.call.frame && site == search.call.site;
  return search.found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// Call sites that once made a call inside another one: they are in MPI or in a tool, and stay inner sites.
constinit KnownSites inner_sites;

}  // namespace

// A call may be left unnoticed when an error handler throws, jumps or goes on in another fiber. Its frame is then no
// longer on the stack, but searching the stack takes too long to do it for every call.
bool OutermostCall::is_still_around(Caller caller) const {
  if (call_.frame == &own_work) return true;
  if (call_.frame == caller.frame) return false;
  if (inner_sites.contains(caller.site)) return true;
  Search search{.call = call_};
  _Unwind_Backtrace(look_at, &search);
  if (search.found) inner_sites.add(caller.site);
  return search.found;
}

}  // namespace halcyon
