#include "libprofile/record/change_gate.hpp"

#include <ctime>

namespace halcyon {

std::atomic<bool> recording{false};

ChangeGate::SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}
ChangeGate::SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void ChangeGate::pause() {
  const timespec millisecond{0, 1'000'000};
  nanosleep(&millisecond, nullptr);
}

}  // namespace halcyon
