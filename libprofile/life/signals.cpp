#include "libprofile/life/signals.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "libprofile/life/exit_gate.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/system/signal_stack.hpp"

namespace halcyon {
namespace {

constexpr std::array numbers{SIGHUP,  SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU,
                             SIGALRM, SIGILL, SIGABRT, SIGFPE,  SIGBUS,  SIGSEGV};

using Handler = void (*)(int, siginfo_t*, void*);

struct CaughtSignal {
  bool is_caught = false;
  struct sigaction next {};            // what the signal does without the recorder
  std::atomic<bool> may_end_us{true};  // false once there was one, and a handler has answered it
};
std::array<CaughtSignal, numbers.size()> caught_signals;

CaughtSignal& caught(int number) {
  const auto at = std::find(numbers.begin(), numbers.end(), number);
  return caught_signals[static_cast<std::size_t>(at - numbers.begin())];
}

Handler handler_of(const struct sigaction& action) { return action.sa_sigaction; }  // shares the place of sa_handler
bool is_default(const struct sigaction& action) { return action.sa_handler == SIG_DFL; }
bool is_now_default(int number) {
  struct sigaction now {};
  return sigaction(number, nullptr, &now) == 0 && is_default(now);
}
void set_default(int number) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(number, &standard, nullptr);
}

// A fault occurs again when its handler returns, with all the information for the next handler.
bool is_fault(int number, const siginfo_t& from) {
  return from.si_code > 0 && (number == SIGILL || number == SIGFPE || number == SIGBUS || number == SIGSEGV);
}

// Our handler has the flags and the mask of the next one.
void call_next(const struct sigaction& next, int number, siginfo_t* from, void* context) {
  if ((next.sa_flags & SA_RESETHAND) != 0) set_default(number);
  if ((next.sa_flags & SA_SIGINFO) != 0) {
    next.sa_sigaction(number, from, context);
  } else {
    next.sa_handler(number);
  }
}

void on_signal(int number, siginfo_t* from, void* context) {
  const int saved_errno = errno;
  CaughtSignal& signal = caught(number);
  const bool is_ours = is_the_recorded_process();
  const bool fault = is_fault(number, *from);
  if (is_ours && fault && number == SIGBUS && recorder->live.has(from->si_addr)) {
    recorder->live.let_go();
  } else if (is_ours && !fault && recorder->gate.is_changing(this_thread)) {  // only this thread can finish the change
    recorder->gate.postpone(number);
  } else if (is_default(signal.next)) {
    if (has_to_keep()) leave(static_cast<PartEnd>(number));
    set_default(number);
    if (!fault) raise(number);
  } else {
    const bool may_end_us = is_ours && signal.may_end_us.exchange(false);
    if (may_end_us) save(static_cast<PartEnd>(number));
    errno = saved_errno;
    call_next(signal.next, number, from, context);
    if (may_end_us && is_now_default(number)) recorder->live.have_others_save();  // most handlers that end us do this
    return;
  }
  errno = saved_errno;
}

void on_save_request(int number, siginfo_t*, void*) {
  if (!is_the_recorded_process()) return;
  const int saved_errno = errno;
  if (recorder->gate.is_changing(this_thread)) {
    recorder->gate.postpone(number);
  } else {
    save(part_of_others);
    recorder->live.has_saved();
  }
  errno = saved_errno;
}

// A signal that came while the records were changing.
void answer(int number) { raise(number); }

void answer_save_requests() {
  if (!is_now_default(live::save_request)) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_save_request;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  if (sigaction(live::save_request, &ours, nullptr) == 0) recorder->live.has_saved();
}

}  // namespace

void catch_signals() {
  recorder->gate.answer_signals_by(answer);
  const bool has_our_stack = give_signal_stack(current_thread().signal_stack);
  for (const int number : numbers) {
    CaughtSignal& signal = caught(number);
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_IGN || handler_of(now) == on_signal) continue;
    signal.next = now;
    struct sigaction ours = now;
    ours.sa_sigaction = on_signal;
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_flags &= ~SA_RESETHAND;
    // The program's own stack for handlers may be too small for one that does not expect to run there.
    if (is_default(now) || has_our_stack) ours.sa_flags |= SA_ONSTACK;
    signal.is_caught = sigaction(number, &ours, nullptr) == 0;
  }
  answer_save_requests();
}

void release_signals() {
  struct sigaction now {};
  for (const int number : numbers) {
    CaughtSignal& signal = caught(number);
    const bool is_ours = signal.is_caught && sigaction(number, nullptr, &now) == 0 && handler_of(now) == on_signal;
    if (is_ours) sigaction(number, &signal.next, nullptr);
    signal.is_caught = false;
  }
  if (sigaction(live::save_request, nullptr, &now) == 0 && handler_of(now) == on_save_request) {
    set_default(live::save_request);
  }
}

}  // namespace halcyon
