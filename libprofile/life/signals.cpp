#include "libprofile/life/signals.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "libprofile/life/exit_gate.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/signal_stack.hpp"

namespace halcyon {
namespace {

struct EndingSignal {
  int number;
  // Programs also use it to be called, some a thousand times a second: with a handler there, it is not ours.
  bool also_calls = false;
};
constexpr std::array<EndingSignal, 21> ending_signals{
    {{SIGHUP},       {SIGINT},        {SIGQUIT},       {SIGTERM},         {SIGUSR1},       {SIGUSR2},
     {SIGXCPU},      {SIGALRM},       {SIGILL},        {SIGABRT},         {SIGFPE},        {SIGBUS},
     {SIGSEGV},      {SIGPIPE, true}, {SIGXFSZ, true}, {SIGVTALRM, true}, {SIGPROF, true}, {SIGIO, true},
     {SIGSYS, true}, {SIGTRAP, true}, {SIGPWR, true}}};

using Handler = void (*)(int, siginfo_t*, void*);

struct CaughtSignal {
  bool is_caught = false;
  struct sigaction next {};            // what the signal does without the recorder
  std::atomic<bool> may_end_us{true};  // false once there was one, and a handler has answered it
  std::atomic<bool> is_reset{false};   // that handler has left the next one to the system
};
using CaughtSignals = std::array<CaughtSignal, ending_signals.size()>;

// A handler that has replaced ours may call it. If it is ours that comes first again, because catch_signals() was
// called again, it is of the second layer, and what that handler calls is of the first.
constexpr std::size_t layers = 2;
std::array<CaughtSignals, layers> caught_signals;

const EndingSignal* find_ending(int number) {
  return std::find_if(ending_signals.begin(), ending_signals.end(),
                      [number](const EndingSignal& ending) { return ending.number == number; });
}
CaughtSignal& caught(std::size_t layer, int number) {
  return caught_signals[layer][static_cast<std::size_t>(find_ending(number) - ending_signals.begin())];
}

std::array<siginfo_t, 65> postponed{};  // what the kernel told of these signals

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

// The kernel puts what it tells of a signal on the stack of its handler. Null if another handler has called this one
// with the number alone, as it may if it has got ours from signal(): then the argument is anything.
[[gnu::always_inline]] inline const siginfo_t* from_kernel(const siginfo_t* from) {
  constexpr std::uintptr_t longest_frames = std::uintptr_t{64} << 10;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return reinterpret_cast<std::uintptr_t>(from) - here < longest_frames ? from : nullptr;
}

// A fault occurs again when its handler returns, with all the information for the next handler.
bool is_fault(int number, const siginfo_t* from) {
  return from != nullptr && from->si_code > 0 &&
         (number == SIGILL || number == SIGFPE || number == SIGBUS || number == SIGSEGV);
}

// The same signal once more, to this thread.
void send_again(int number, const siginfo_t* from) {
  const bool is_known = from != nullptr && from->si_signo == number;
  if (!is_known || syscall(SYS_rt_tgsigqueueinfo, getpid(), direct::thread_id(), number, from) != 0) {
    syscall(SYS_tgkill, getpid(), direct::thread_id(), number);
  }
}

// The signal will come again when the change is complete.
void postpone(int number, const siginfo_t* from) {
  postponed[static_cast<std::size_t>(number)] = from != nullptr ? *from : siginfo_t{};
  recorder->gate.postpone(number);
}
void answer(int number) { send_again(number, &postponed[static_cast<std::size_t>(number)]); }

// Our handler has the flags and the mask of the next one.
void call_next(const struct sigaction& next, int number, siginfo_t* from, void* context) {
  if ((next.sa_flags & SA_RESETHAND) != 0) set_default(number);
  if ((next.sa_flags & SA_SIGINFO) != 0) {
    next.sa_sigaction(number, from, context);
  } else {
    next.sa_handler(number);
  }
}

template <std::size_t layer>
void on_signal(int number, siginfo_t* from, void* context);
constexpr std::array<Handler, layers> our_handlers{on_signal<0>, on_signal<1>};

bool catch_in_place_of(const struct sigaction& now, std::size_t layer, int number, int more_flags) {
  struct sigaction ours = now;
  ours.sa_sigaction = our_handlers[layer];
  ours.sa_flags |= SA_SIGINFO | more_flags;
  ours.sa_flags &= ~SA_RESETHAND;
  return sigaction(number, &ours, nullptr) == 0;
}

void answer_signal(std::size_t layer, int number, siginfo_t* from, const siginfo_t* told, void* context) {
  const int saved_errno = errno;
  CaughtSignal& signal = caught(layer, number);
  const bool is_ours = is_the_recorded_process();
  const bool fault = is_fault(number, told);
  if (is_ours && fault && number == SIGBUS && recorder->live.has(told->si_addr)) {
    recorder->live.let_go();
  } else if (is_ours && !fault && recorder->gate.is_changing(this_thread)) {  // only this thread can finish the change
    postpone(number, told);
  } else if (is_default(signal.next) || signal.is_reset.load()) {
    if (has_to_keep()) leave(static_cast<PartEnd>(number));
    set_default(number);
    if (!fault) send_again(number, told);
  } else {
    const bool may_end_us = is_ours && signal.may_end_us.exchange(false);
    if (may_end_us) save(static_cast<PartEnd>(number));
    // The handler may not come to its end, as on a stack that is too small for it.
    if (may_end_us && fault && has_to_keep()) recorder->live.have_others_save();
    errno = saved_errno;
    call_next(signal.next, number, from, context);
    // Most handlers that end the process leave that to the system: it has sent the signal again, or a fault occurs
    // again.
    if (!is_ours || !is_now_default(number)) return;
    const int errno_of_handler = errno;
    signal.is_reset.store(true);
    catch_in_place_of({}, layer, number, SA_ONSTACK);
    errno = errno_of_handler;
    return;
  }
  errno = saved_errno;
}

template <std::size_t layer>
void on_signal(int number, siginfo_t* from, void* context) {
  answer_signal(layer, number, from, from_kernel(from), context);
}

void on_save_request(int number, siginfo_t* from, void*) {
  if (!is_the_recorded_process()) return;
  const int saved_errno = errno;
  if (recorder->gate.is_changing(this_thread)) {
    postpone(number, from);
  } else {
    save(part_of_others);
    recorder->live.has_saved();
  }
  errno = saved_errno;
}

void answer_save_requests() {
  if (!is_now_default(live::save_request)) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_save_request;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  if (sigaction(live::save_request, &ours, nullptr) == 0) recorder->live.has_saved();
}

bool is_ours(const struct sigaction& action) {
  return std::find(our_handlers.begin(), our_handlers.end(), handler_of(action)) != our_handlers.end();
}

}  // namespace

void catch_signals() {
  recorder->gate.answer_signals_by(answer);
  const bool has_our_stack = give_signal_stack(current_thread().signal_stack);
  for (const auto& [number, also_calls] : ending_signals) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_IGN || is_ours(now)) continue;
    const std::size_t layer = caught(0, number).is_caught ? 1 : 0;
    CaughtSignal& signal = caught(layer, number);
    if (signal.is_caught || (also_calls && !is_default(now))) continue;
    signal.next = now;
    // Other handlers than ours keep the stack that they run on: they may need a large one, or leave it for another. But
    // if that stack is full, they need ours. The program's own stack for handlers may be too small for one that does
    // not expect to run there.
    const bool is_of_full_stack = number == SIGSEGV || number == SIGBUS;
    const bool needs_our_stack = is_default(now) || (is_of_full_stack && has_our_stack);
    signal.is_caught = catch_in_place_of(now, layer, number, needs_our_stack ? SA_ONSTACK : 0);
  }
  answer_save_requests();
}

// A handler that has done its work often sets the default and sends the signal again. A signal that is blocked comes
// when the handler has returned, unless a thread waits for it; so may one to the process.
void prepare_for_own_signal(int number, Receiver receiver) {
  if (find_ending(number) == ending_signals.end() || !has_to_keep() || !is_now_default(number)) return;
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  constexpr pid_t first_of_container = 1;  // no signal ends it by default
  if (receiver == Receiver::thread && sigismember(&blocked, number) == 0 && getpid() != first_of_container) {
    leave(static_cast<PartEnd>(number));
  } else if (caught(0, number).may_end_us.exchange(false)) {
    save_with_others(static_cast<PartEnd>(number));
  }
}

void prepare_for_abort() {
  if (has_to_keep() && caught(0, SIGABRT).may_end_us.exchange(false)) save_with_others(static_cast<PartEnd>(SIGABRT));
}

void release_signals() {
  struct sigaction now {};
  for (std::size_t layer = layers; layer-- > 0;) {
    for (const auto& [number, also_calls] : ending_signals) {
      CaughtSignal& signal = caught(layer, number);
      const bool is_ours_first =
          signal.is_caught && sigaction(number, nullptr, &now) == 0 && handler_of(now) == our_handlers[layer];
      if (is_ours_first) sigaction(number, &signal.next, nullptr);
      if (is_ours_first && signal.is_reset.load()) set_default(number);
      signal.is_caught = false;
    }
  }
  if (sigaction(live::save_request, nullptr, &now) == 0 && handler_of(now) == on_save_request) {
    set_default(live::save_request);
  }
}

}  // namespace halcyon
