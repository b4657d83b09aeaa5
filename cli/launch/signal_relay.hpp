// Signals to this process while it runs programs: they are passed to the program, and a request to end is noted.
#pragma once

#include <array>
#include <csignal>

#include "cli/launch/job.hpp"

namespace halcyon::cli {

/// While it lives, the first SIGTERM, SIGHUP or SIGINT does not end this process; a second one does if no program runs.
/// SIGUSR1 and SIGUSR2 are only passed on. Only one relay at a time: a signal handler can only use global variables.
class SignalRelay {
 public:
  SignalRelay();
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  /// Waits for the end of a job, and passes signals to it, also one that arrived while it was started.
  /// `interrupts_first`: the first SIGTERM or SIGHUP is passed on as SIGINT.
  Outcome<JobEnd> wait(Job& job, bool interrupts_first = false);

  /// The last SIGTERM, SIGHUP or SIGINT, or 0.
  int asked_to_end() const;
  /// Ends this process with the signal that asked for it, so that the waiting process sees why it ended. Returns if
  /// there was none.
  void end_as_asked() const;

 private:
  static constexpr std::array signals{SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, signals.size()> before_{};
};

/// Ends this process as the signal does without a handler. Async-signal-safe.
void end_by(int signal);

}  // namespace halcyon::cli
