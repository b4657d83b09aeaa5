#include "libprofile/life/signals.hpp"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "libprofile/interpose/next.hpp"
#include "libprofile/life/exit_gate.hpp"
#include "libprofile/record/recorder.hpp"

namespace halcyon {
namespace {

struct CaughtSignal {
  int number;
  bool is_caught = false;
  struct sigaction before {};
};
std::array caught_signals{CaughtSignal{SIGHUP},  CaughtSignal{SIGINT},  CaughtSignal{SIGQUIT}, CaughtSignal{SIGTERM},
                          CaughtSignal{SIGUSR1}, CaughtSignal{SIGUSR2}, CaughtSignal{SIGXCPU}, CaughtSignal{SIGALRM},
                          CaughtSignal{SIGILL},  CaughtSignal{SIGABRT}, CaughtSignal{SIGFPE},  CaughtSignal{SIGBUS},
                          CaughtSignal{SIGSEGV}};

// Handlers of Open MPI, and of UCX below MPICH, print where a fault was; they must still run.
bool is_of_mpi(const struct sigaction& action) {
  Dl_info info{};
  if ((action.sa_flags & SA_SIGINFO) == 0 || dladdr(reinterpret_cast<void*>(action.sa_sigaction), &info) == 0 ||
      info.dli_fname == nullptr) {
    return false;
  }
  const std::string_view library = base_name(info.dli_fname);
  return library.starts_with("libopen-pal") || library.starts_with("libucs.so");
}

// A fault occurs again when its handler returns, with all the information for the next handler.
bool is_fault(int number, const siginfo_t& from) {
  return from.si_code > 0 && (number == SIGILL || number == SIGFPE || number == SIGBUS || number == SIGSEGV);
}

void restore(const CaughtSignal& caught) { sigaction(caught.number, &caught.before, nullptr); }

void on_signal(int number, siginfo_t* from, void*) {
  const int saved_errno = errno;
  if (is_the_recorded_process() && !is_fault(number, *from)) {
    if (recorder->gate.is_changing(this_thread)) {  // only this thread can finish the change
      recorder->gate.postpone(number);
      errno = saved_errno;
      return;
    }
  }
  if (has_to_keep()) {
    leave(static_cast<PartEnd>(number), LastLook::not_taken);
  } else {
    recorder->gate.wait_until_kept();
  }
  errno = saved_errno;
  for (const CaughtSignal& caught : caught_signals) {
    if (caught.number == number) restore(caught);
  }
  if (!is_fault(number, *from)) raise(number);
}

// Answers a postponed signal: saves the records, and then does what the signal does without the recorder.
// Async-signal-safe.
void answer(int signal) {
  leave(static_cast<PartEnd>(signal), LastLook::not_taken);
  for (const CaughtSignal& caught : caught_signals) {
    if (caught.number == signal) restore(caught);
  }
  raise(signal);
}

}  // namespace

void catch_signals() {
  recorder->gate.answer_signals_by(answer);
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (CaughtSignal& caught : caught_signals) {
    if (sigaction(caught.number, nullptr, &caught.before) != 0) continue;
    const bool is_default = (caught.before.sa_flags & SA_SIGINFO) == 0 && caught.before.sa_handler == SIG_DFL;
    if (is_default || is_of_mpi(caught.before)) {
      caught.is_caught = sigaction(caught.number, &ours, nullptr) == 0;
    }
  }
}

void release_signals() {
  for (CaughtSignal& caught : caught_signals) {
    struct sigaction now {};
    if (!caught.is_caught || sigaction(caught.number, nullptr, &now) != 0) continue;
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal) restore(caught);
    caught.is_caught = false;
  }
}

}  // namespace halcyon
