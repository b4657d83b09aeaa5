// Keeps changes of the records apart from the last saving, when the process is about to end.
#pragma once

#include <sched.h>
#include <signal.h>

#include <atomic>

#include "libprofile/record/threads.hpp"

namespace halcyon {

/// Set while the recorder counts; while it is false, the wrappers only pass calls on.
extern std::atomic<bool> recording;

/// Only one thread at a time changes the records: others wait. The records are never saved during a change: a thread
/// that leaves waits for the change in progress, and no new change begins. The first thread that leaves saves the
/// records, once.
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
  void note_saved() { unsaved_.store(false); }

  /// A signal to the thread that is changing the records is postponed until the change is complete.
  bool is_changing(const ThreadState* thread) const {
    return thread != nullptr && changing_.load(std::memory_order_acquire) == thread;
  }
  void postpone(int signal) { postponed_signal_.store(signal); }
  /// `answer` handles a postponed signal.
  void answer_signals_by(void (*answer)(int signal)) { answer_ = answer; }

  /// A thread is in leave(): it saves the records, and the program is about to end.
  bool is_being_left() const { return leaving_.load() != 0; }
  void wait_until_kept() const {
    wait_for([this] { return is_being_left(); });
  }

  /// Ends recording. The first caller calls `keep()`; later callers wait for it. Signals are blocked until it is done,
  /// since a launcher that ends all ranks often sends a second signal. Async-signal-safe if `keep` is.
  template <class Keep>
  void leave(Keep keep) {
    const SignalsBlocked no_second_signal;
    leaving_.fetch_add(1);
    recording.store(false);
    if (wait_for([this] { return changing_.load() != nullptr; }) && unsaved_.exchange(false)) keep();
    leaving_.fetch_sub(1);
    wait_until_kept();
  }

  friend class Change;

 private:
  /// Blocks all signals, in this thread.
  class SignalsBlocked {
   public:
    SignalsBlocked();
    ~SignalsBlocked();
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

   private:
    sigset_t before_{};
  };

  static void pause();

  // Waits for another thread, but not for ever, since that thread may be dead. False if it is still busy.
  template <class GoesOn>
  static bool wait_for(GoesOn goes_on) {
    constexpr int most_pauses = 1000;
    for (int i = 0; i < most_pauses && goes_on(); ++i) pause();
    return !goes_on();
  }

  // The thread that is changing the records, if any: it closes a segment, or prepares the merge.
  std::atomic<const ThreadState*> changing_{nullptr};
  std::atomic<int> postponed_signal_{0};
  std::atomic<int> leaving_{0};  // threads
  // True from the start until the profile is written, or the records have been saved for the last time.
  std::atomic<bool> unsaved_{false};
  std::atomic<bool> begun_{false};
  void (*answer_)(int signal) = nullptr;
};

/// A change of the records, while it lives. It is the only lock around them, and is taken without holding another one.
/// Signals to its thread are postponed, so that none can find it locked by its own thread.
class Change {
 public:
  /// This exchange, and the load of `recording` or is_being_left() that must follow it, are sequentially consistent, as
  /// in ChangeGate::leave(): either the leaving thread sees the change and waits for it, or the changing thread sees it
  /// leave.
  Change(ChangeGate& gate, const ThreadState& thread) noexcept : gate_(gate) {
    const ThreadState* free = nullptr;
    while (__builtin_expect(!gate_.changing_.compare_exchange_weak(free, &thread), 0)) {
      // If threads outnumber cores, the holder may need this thread's core to go on.
      if (free != nullptr) sched_yield();
      free = nullptr;
    }
  }
  ~Change() {
    gate_.changing_.store(nullptr, std::memory_order_release);
    const int signal = gate_.postponed_signal_.load(std::memory_order_relaxed);
    if (__builtin_expect(signal != 0, 0)) gate_.answer_(signal);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  ChangeGate& gate_;
};

}  // namespace halcyon
