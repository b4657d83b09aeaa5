// Distinguishes the application's calls from those that MPI or another tool makes inside them.
#pragma once

#include <atomic>

namespace halcyon {

/// The caller of an exported wrapper: the wrapper's canonical frame address (DWARF 5, 6.4), and its return address.
struct Caller {
  const void* frame;
  const void* site;

  /// Must be called in the exported function itself, hence inlined.
  [[gnu::always_inline]] static Caller of_this_function() {
    return {__builtin_dwarf_cfa(), __builtin_return_address(0)};
  }
};

/// The call of the application that a thread is in, if any.
class OutermostCall {
 public:
  bool is_around(Caller caller) const { return __builtin_expect(call_.frame != nullptr, 0) && is_still_around(caller); }
  void begin(Caller caller) {
    call_.site = caller.site;
    std::atomic_signal_fence(std::memory_order_release);  // a signal handler may make a call here
    call_.frame = caller.frame;
  }
  void end() { call_.frame = nullptr; }
  /// The thread is in a call, of which MPI may make others.
  bool is_within_call() const { return call_.frame != nullptr && call_.frame != &own_work; }

  /// Until end(), the thread's calls are the tool's own, not the application's.
  void begin_own_work() { call_.frame = &own_work; }

 private:
  bool is_still_around(Caller caller) const;

  static constexpr char own_work = 0;

  Caller call_{};
};

}  // namespace halcyon
