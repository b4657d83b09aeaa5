// Keeps changes of the records apart from each other, and from saving them when the process may be about to end.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "libprofile/record/threads.hpp"

namespace halcyon {

/// Set while the recorder counts; while it is false, the wrappers only pass calls on.
extern std::atomic<bool> recording;

/// Only one thread at a time changes or saves the records. Nobody waits for longer than a second: the thread that has
/// the turn may be dead, or a signal handler of the program may have jumped out of it.
class ChangeGate {
 public:
  /// Recording begins: from now on there are records to save.
  void open() {
    begun_.store(true);
    unsaved_.store(true);
    recording.store(true);
  }
  /// Recording has begun, and perhaps ended since: a process has one profile.
  bool has_begun() const { return begun_.load(); }
  bool has_unsaved() const { return unsaved_.load(); }
  /// leave() was called, though the process may go on: a debugger or the program may take the signal away.
  bool has_left() const { return has_left_.load(); }
  /// The thread jumps out of what it is doing. If that is a change, the next one may begin.
  void leave_change(const ThreadState& thread) {
    if (is_changing(&thread)) end_change();
  }
  void note_saved() { unsaved_.store(false); }

  /// A signal to the thread that is changing the records is postponed until the change is complete.
  bool is_changing(const ThreadState* thread) const {
    return thread != nullptr && turn_.load(std::memory_order_acquire) == thread;
  }
  void postpone(int signal) { postponed_.fetch_or(std::uint64_t{1} << (signal - 1)); }  // 1 to 64
  /// `answer` handles a postponed signal.
  void answer_signals_by(void (*answer)(int signal)) { answer_ = answer; }

  /// Ends recording, and calls `keep()` if no thread has done so: the process is about to end. Other threads that leave
  /// wait for it. False if the records could not be saved. Async-signal-safe if `keep` is.
  template <class Keep>
  bool leave(Keep keep) {
    const SignalsBlocked none;  // a launcher that ends all ranks often sends a second one
    recording.store(false);
    has_left_.store(true);
    return save_in_turn([&] {
      keep();
      unsaved_.store(false);
    });
  }
  /// Calls `keep()`, and recording goes on. Async-signal-safe if `keep` is.
  template <class Keep>
  void save(Keep keep) {
    const SignalsBlocked none;
    save_in_turn(keep);
  }

  friend class Change;

 private:
  /// Blocks all signals in this thread, except for faults: to block them would end the process, and a handler of the
  /// program may go on after one, as where it notes which memory is written to.
  class SignalsBlocked {
   public:
    SignalsBlocked();
    ~SignalsBlocked();
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

   private:
    sigset_t before_{};
  };

  // `who`: a thread's state for a change, and the address of `this_thread` for saving, since it may have no state.
  bool take_turn(const void* who) {
    const void* nobody = nullptr;
    return __builtin_expect(turn_.compare_exchange_strong(nobody, who), 1) || waits_for_turn(who);
  }
  // False if another thread still has it after a second.
  bool waits_for_turn(const void* who);
  void end_turn() { turn_.store(nullptr, std::memory_order_release); }
  void end_change() {
    end_turn();
    if (__builtin_expect(postponed_.load(std::memory_order_relaxed) != 0, 0)) answer_postponed();
  }
  void answer_postponed();

  template <class Keep>
  bool save_in_turn(Keep keep) {
    // A fault in the middle of a change, or a handler that ends the process there: the records are not whole.
    const void* const who = &this_thread;
    if (is_changing(this_thread) || turn_.load() == who || !take_turn(who)) return false;
    if (unsaved_.load()) keep();
    end_turn();
    return true;
  }

  std::atomic<const void*> turn_{nullptr};
  std::atomic<std::uint64_t> postponed_{0};  // a bit for each signal, from 1 on
  // True from the start until the profile is written, or the records have been saved for the last time.
  std::atomic<bool> unsaved_{false};
  std::atomic<bool> begun_{false};
  std::atomic<bool> has_left_{false};
  void (*answer_)(int signal) = nullptr;
};

/// A change of the records, while it lives. It is the only lock around them, and is taken without holding another one.
/// Signals to its thread are postponed, so that none can find it locked by its own thread.
class Change {
 public:
  /// Taking the turn, and the load of `recording` or has_unsaved() that must follow it, are sequentially consistent, as
  /// in ChangeGate::leave(): either the leaving thread waits for the change, or the changing thread sees it leave.
  Change(ChangeGate& gate, const ThreadState& thread) noexcept : gate_(gate) {
    while (__builtin_expect(!gate.take_turn(&thread), 0)) continue;
  }
  ~Change() { gate_.end_change(); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  ChangeGate& gate_;
};

}  // namespace halcyon
