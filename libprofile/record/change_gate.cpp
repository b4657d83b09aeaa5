#include "libprofile/record/change_gate.hpp"

#include <sched.h>

#include <bit>

#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/nanoseconds.hpp"

namespace halcyon {

std::atomic<bool> recording{false};

ChangeGate::SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGILL, SIGFPE, SIGBUS, SIGSEGV}) sigdelset(&all, fault);
  sigdelset(&all, SIGXFSZ);  // of our own writing: PartFile discards it, which must see whether the program blocks it
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}
ChangeGate::SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool ChangeGate::waits_for_turn(const void* who) {
  constexpr double most_seconds = 1.0;
  constexpr int most_yields = 100;  // a change takes less than a microsecond, but writing takes longer
  const double began = monotonic_seconds();
  for (int tries = 0; turn_.load() != who; ++tries) {  // its own: the program has jumped out of it
    const void* nobody = nullptr;
    const void* saving = &this_thread;  // the same
    if (turn_.compare_exchange_strong(nobody, who) || turn_.compare_exchange_strong(saving, who)) break;
    if (monotonic_seconds() - began > most_seconds) return false;
    if (tries < most_yields) {
      sched_yield();
    } else {
      direct::sleep_a_millisecond();
    }
  }
  return true;
}

void ChangeGate::answer_postponed() {
  while (const std::uint64_t signals = postponed_.load()) {
    const std::uint64_t first = signals & (~signals + 1);
    // A handler may jump out of the answer. The others are then answered after the next change.
    if ((postponed_.fetch_and(~first) & first) != 0) answer_(std::countr_zero(first) + 1);
  }
}

}  // namespace halcyon
