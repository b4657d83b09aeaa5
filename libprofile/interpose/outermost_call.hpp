// Distinguishes the application's calls from those that MPI or another tool makes inside them.
#pragma once

#include <atomic>
#include <cstdint>

namespace halcyon {

/// The caller of an exported wrapper: the wrapper's canonical frame address (DWARF 5, 6.4), the return address, and the
/// place on the stack that has it while the wrapper runs.
struct Caller {
  const void* frame;
  const void* site;
  const std::uintptr_t* place_of_return;

  /// Must be called in the exported function itself, hence inlined.
  [[gnu::always_inline]] static Caller of_this_function() {
    const void* const frame = __builtin_dwarf_cfa();
#ifdef __x86_64__
    const auto* const place = static_cast<const std::uintptr_t*>(frame) - 1;
#else  // the frame record, which has the link register behind the frame pointer
    const auto* const place = static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1;
#endif
    return {frame, __builtin_return_address(0), place};
  }
};

/// The call of the application that a thread is in, if any.
class OutermostCall {
 public:
  bool is_around(Caller caller) { return __builtin_expect(frame_ != nullptr, 0) && is_still_around(caller); }
  [[gnu::always_inline]] void begin(Caller caller) {
    place_of_return_ = caller.place_of_return;
    returns_to_ = *caller.place_of_return;
    calls_inside_ = 0;
    std::atomic_signal_fence(std::memory_order_release);  // a signal handler may make a call here
    frame_ = caller.frame;
  }
  void end() { frame_ = nullptr; }
  /// The program leaves the call without returning from it.
  void leave() {
    if (is_within_call()) end();
  }
  bool is_begun() const { return frame_ != nullptr; }
  /// The thread is in a call, of which MPI may make others.
  bool is_within_call() const { return frame_ != nullptr && frame_ != &own_work; }

  /// The program seems to have left a call without returning from it, unseen: some calls after it were not recorded.
  bool was_given_up() const { return was_given_up_; }

  /// Until end(), the thread's calls are the tool's own, not the application's.
  void begin_own_work() { frame_ = &own_work; }

 private:
  bool is_still_around(Caller caller);
  bool has_too_many_inside(Caller caller);

  static constexpr char own_work = 0;

  const void* frame_ = nullptr;
  const std::uintptr_t* place_of_return_ = nullptr;
  std::uintptr_t returns_to_ = 0;  // what was in that place when the call began
  std::uint32_t calls_inside_ = 0;
  bool was_given_up_ = false;
};

}  // namespace halcyon
