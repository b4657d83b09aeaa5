// The tool's own system calls may raise a signal: this keeps it from the application.
#pragma once

#include <signal.h>

#include <ctime>

namespace halcyon {

/// Blocks a signal in this thread, and finally discards one that is pending, unless the application blocks it itself.
/// Async-signal-safe.
class SignalBlocked {
 public:
  explicit SignalBlocked(int signal) {
    sigemptyset(&signal_);
    sigaddset(&signal_, signal);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    was_blocked_ = sigismember(&before_, signal) == 1;
  }
  ~SignalBlocked() {
    if (!was_blocked_) {
      const timespec at_once{};
      sigtimedwait(&signal_, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalBlocked(const SignalBlocked&) = delete;
  SignalBlocked& operator=(const SignalBlocked&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
  bool was_blocked_ = false;
};

}  // namespace halcyon
