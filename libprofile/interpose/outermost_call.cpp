#include "libprofile/interpose/outermost_call.hpp"

#include <unwind.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

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
class InnerSites {
 public:
  bool contains(const void* site) const { return place_of(site).load(std::memory_order_relaxed) == site; }
  void add(const void* site) { place_of(site).store(site, std::memory_order_relaxed); }

 private:
  static constexpr unsigned places_as_power = 9;
  using Places = std::array<std::atomic<const void*>, 1u << places_as_power>;

  static std::size_t index_of(const void* site) {
    return reinterpret_cast<std::uintptr_t>(site) * 0x9e3779b97f4a7c15u >> (64 - places_as_power);
  }
  std::atomic<const void*>& place_of(const void* site) { return places_[index_of(site)]; }
  const std::atomic<const void*>& place_of(const void* site) const { return places_[index_of(site)]; }

  Places places_{};
};

constinit InnerSites inner_sites;

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
