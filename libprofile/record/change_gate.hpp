// Keeps apart who changes what is recorded and who keeps it for good because the process is about to end.
#pragma once

#include <signal.h>

#include <atomic>

#include "libprofile/record/threads.hpp"

namespace halcyon {

/// Set while the recorder counts; everything else stands aside while it is false.
extern std::atomic<bool> recording;

/// What is recorded changes in one thread at a time, and is never kept half changed: who leaves waits for the change
/// that is going on, and no other begins. It is kept once, whoever comes first.
class ChangeGate {
 public:
  /// Recording begins: there is something to keep from now on.
  void open() {
    unsaved_.store(true);
    recording.store(true);
  }
  bool has_unsaved() const { return unsaved_.load(); }
  void note_saved() { unsaved_.store(false); }

  /// A signal that comes to the very thread that changes something is answered when it has.
  bool is_changing(const ThreadState* thread) const {
    return thread != nullptr && changing_.load(std::memory_order_acquire) == thread;
  }
  void postpone(int signal) { postponed_signal_.store(signal); }
  /// `answer`: what is done with a postponed signal.
  void answer_signals_by(void (*answer)(int signal)) { answer_ = answer; }

  /// Another thread ends the program, and keeps what is recorded before.
  bool is_being_left() const { return leaving_.load() != 0; }
  void wait_until_kept() const {
    wait_for([this] { return is_being_left(); });
  }

  /// Recording ends, and `keep()` is called, by the first who comes; later ones wait for it. Whoever ends one rank
  /// often ends all, and one by a second signal: signals wait until it is done. Async-signal-safe if `keep` is.
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
  /// All of them, in this thread.
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

  // Until what another thread does is done; it may be that this thread is dead, so not for ever. False: it goes on.
  template <class GoesOn>
  static bool wait_for(GoesOn goes_on) {
    constexpr int most_pauses = 1000;
    for (int i = 0; i < most_pauses && goes_on(); ++i) pause();
    return !goes_on();
  }

  // The thread that changes what is recorded, if one does: closes a segment, or prepares for merging.
  std::atomic<const ThreadState*> changing_{nullptr};
  std::atomic<int> postponed_signal_{0};
  std::atomic<int> leaving_{0};  // threads
  // From the start until the profile is written, or what is recorded has been kept for the last time.
  std::atomic<bool> unsaved_{false};
  void (*answer_)(int signal) = nullptr;
};

/// While it lives, what is recorded changes.
class Change {
 public:
  /// Both this and what follows it are sequentially consistent, as in ChangeGate::leave(): who leaves either sees
  /// the change and waits for it, or is seen (is_being_left(), `recording`).
  Change(ChangeGate& gate, const ThreadState& thread) : gate_(gate) { gate_.changing_.store(&thread); }
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
