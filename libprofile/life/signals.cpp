#include "libprofile/life/signals.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "libprofile/interpose/interposed.hpp"
#include "libprofile/life/exit_gate.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/signal_stack.hpp"

namespace halcyon {
namespace {

// What a signal does where the program has no handler for it, and what programs use it for.
enum class Kind : char {
  harmless,    // it ends no process
  ending,      // who handles it mostly ends
  also_calls,  // some are called by it, a thousand times a second: with a handler there, it is not ours
};
constexpr int numbers = 65;  // of signals, with 0, which is none
constexpr std::array<Kind, numbers> kinds = [] {
  std::array<Kind, numbers> of{};
  of.fill(Kind::also_calls);
  for (const int number : {0, SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH}) {
    of[static_cast<std::size_t>(number)] = Kind::harmless;
  }
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM, SIGILL, SIGABRT,
                           SIGFPE, SIGBUS, SIGSEGV}) {
    of[static_cast<std::size_t>(number)] = Kind::ending;
  }
  return of;
}();
Kind kind_of(int number) {
  return number > 0 && number < numbers ? kinds[static_cast<std::size_t>(number)] : Kind::harmless;
}

using Handler = void (*)(int, siginfo_t*, void*);

struct CaughtSignal {
  bool is_caught = false;
  struct sigaction next {};            // what the signal does without the recorder
  std::atomic<bool> may_end_us{true};  // false once there was one, and a handler has answered it
  std::atomic<bool> is_reset{false};   // that handler has left the next one to the system
};
using CaughtSignals = std::array<CaughtSignal, numbers>;

// A handler that has replaced ours may call it. If it is ours that comes first again, because catch_signals() was
// called again, it is of the second layer, and what that handler calls is of the first. The program does not see the
// third: it is before the system's own answer, and before what the program has set since for one signal alone.
constexpr std::size_t hidden_layer = 2;
constexpr std::size_t layers = 3;
std::array<CaughtSignals, layers> caught_signals;

CaughtSignal& caught(std::size_t layer, int number) { return caught_signals[layer][static_cast<std::size_t>(number)]; }

std::array<siginfo_t, numbers> postponed{};  // what the kernel told of these signals

template <std::size_t layer>
void on_signal(int number, siginfo_t* from, void* context);
constexpr std::array<Handler, layers> our_handlers{on_signal<0>, on_signal<1>, on_signal<hidden_layer>};
constexpr Handler hidden_handler = our_handlers[hidden_layer];

Handler handler_of(const struct sigaction& action) { return action.sa_sigaction; }  // shares the place of sa_handler
bool is_default(const struct sigaction& action) { return action.sa_handler == SIG_DFL; }

// The program's calls of these are changed below; those of this file are not. They come from other tools' sigaction,
// too: that of ThreadSanitizer keeps handlers of its own.
thread_local bool is_own_call = false;
int own_sigaction(int number, const struct sigaction* action, struct sigaction* before) {
  const bool is_within_another = is_own_call;  // which this signal has interrupted
  is_own_call = true;
  const int result = sigaction(number, action, before);
  is_own_call = is_within_another;
  return result;
}
bool is_now_default(int number) {
  struct sigaction now {};
  return own_sigaction(number, nullptr, &now) == 0 &&
         is_default(handler_of(now) == hidden_handler ? caught(hidden_layer, number).next : now);
}
void set_default(int number) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  own_sigaction(number, &standard, nullptr);
}

// The kernel puts what it tells of a signal on the stack of its handler. Null if another handler has called this one
// with the number alone, as it may if it has got ours from signal(): then the argument is anything.
[[gnu::always_inline]] inline const siginfo_t* from_kernel(const siginfo_t* from) {
  constexpr std::uintptr_t longest_frames = std::uintptr_t{64} << 10;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return reinterpret_cast<std::uintptr_t>(from) - here < longest_frames ? from : nullptr;
}

// Only where the thread's own stack may be the trouble: one that the program has set for handlers may be too small for
// ours, which then would do worse than the signal.
int flags_of_stack(int number) { return number == SIGSEGV || number == SIGBUS ? SA_ONSTACK : 0; }

bool is_of_faults(int number) { return number == SIGILL || number == SIGFPE || number == SIGBUS || number == SIGSEGV; }
// A fault occurs again when its handler returns, with all the information for the next handler.
bool is_fault(int number, const siginfo_t* from) {
  return from != nullptr && from->si_code > 0 && is_of_faults(number);
}

// The first process of a container: what ends others by default does nothing to it, except for a fault.
bool survives_defaults() {
  constexpr pid_t first = 1;
  return getpid() == first;
}

// The same signal once more, to this thread.
void send_again(int number, const siginfo_t* from) {
  const bool is_known = from != nullptr && from->si_signo == number;
  if (!is_known || syscall(SYS_rt_tgsigqueueinfo, getpid(), direct::thread_id(), number, from) != 0) {
    // The kernel may have no room for another one (RLIMIT_SIGPENDING): the process must not go on for that.
    if (syscall(SYS_tgkill, getpid(), direct::thread_id(), number) != 0) syscall(SYS_kill, getpid(), SIGKILL);
  }
}

// The signal will come again when the change is complete.
void postpone(int number, const siginfo_t* from) {
  postponed[static_cast<std::size_t>(number)] = from != nullptr ? *from : siginfo_t{};
  recorder->gate.postpone(number);
}
void answer(int number) { send_again(number, &postponed[static_cast<std::size_t>(number)]); }

void look_at_what_was_set(int number);

// Our handler has the flags and the mask of the next one.
void call_next(struct sigaction next, int number, siginfo_t* from, void* context) {
  if ((next.sa_flags & SA_RESETHAND) != 0) {
    struct sigaction reset = next;  // the kernel, too, leaves the flags and the mask
    reset.sa_handler = SIG_DFL;
    own_sigaction(number, &reset, nullptr);
    look_at_what_was_set(number);  // before the call, which may end by a jump
  }
  if ((next.sa_flags & SA_SIGINFO) != 0) {
    next.sa_sigaction(number, from, context);
  } else {
    next.sa_handler(number);
  }
}

bool catch_in_place_of(const struct sigaction& now, std::size_t layer, int number, int more_flags) {
  struct sigaction ours = now;
  ours.sa_sigaction = our_handlers[layer];
  ours.sa_flags |= SA_SIGINFO | more_flags;
  ours.sa_flags &= ~SA_RESETHAND;
  return own_sigaction(number, &ours, nullptr) == 0;
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
    if (!fault && survives_defaults()) return;
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
    catch_in_place_of({}, layer, number, flags_of_stack(number));
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
  if (recorder->live.has_left()) {  // what is saved says how it ends
    recorder->live.has_saved();
  } else if (recorder->gate.is_changing(this_thread)) {
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
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  if (own_sigaction(live::save_request, &ours, nullptr) == 0) recorder->live.has_saved();
}

bool is_ours(const struct sigaction& action) {
  return std::find(our_handlers.begin(), our_handlers.end(), handler_of(action)) != our_handlers.end();
}

// Whether the signal, answered as it is `now`, may be the last one.
bool may_be_the_last(int number, struct sigaction& now) {
  const Kind kind = kind_of(number);
  if (kind == Kind::harmless || own_sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) return false;
  if (is_default(now)) return is_of_faults(number) || !survives_defaults();
  return kind == Kind::ending;
}

// A program that calls the handler there was must not find ours.
void catch_unseen(const struct sigaction& now, int number) {
  CaughtSignal& signal = caught(hidden_layer, number);
  signal.next = now;
  signal.is_reset.store(false);
  signal.is_caught = catch_in_place_of(now, hidden_layer, number, is_default(now) ? flags_of_stack(number) : 0);
}

// Where the program leaves a signal to the system, at once or after the handler has been called once (SA_RESETHAND),
// there is nothing that could save the records, and ours comes before it. All other handlers take the place of ours.
void look_at_what_was_set(int number) {
  struct sigaction now {};
  if (!may_be_the_last(number, now) || is_ours(now)) return;
  if (is_default(now) || (now.sa_flags & SA_RESETHAND) != 0) catch_unseen(now, number);
}

// A call of the program that sets what a signal does. `set` gets what the program has set before, if ours hides that.
template <class Set>
auto set_by_program(int number, Set set) {
  const int saved_errno = errno;
  const bool is_of_program = !is_own_call && kind_of(number) != Kind::harmless;
  const bool is_looked_at = is_of_program && has_to_keep();
  struct sigaction before {};
  const bool is_hidden =  // in a forked child, too
      is_of_program && own_sigaction(number, nullptr, &before) == 0 && handler_of(before) == hidden_handler;
  if (is_hidden) before = caught(hidden_layer, number).next;
  errno = saved_errno;
  const auto result = set(is_hidden ? &before : nullptr);
  const int errno_of_call = errno;
  if (is_looked_at) look_at_what_was_set(number);
  errno = errno_of_call;
  return result;
}

// signal() and its like, which give back what was there.
template <class Function>
sighandler_t set_handler(Interposed<Function>& function, int number, sighandler_t handler) {
  return set_by_program(number, [&](const struct sigaction* hidden) {
    const sighandler_t before = function.next()(number, handler);
    const bool is_handler = before != SIG_ERR && before != SIG_HOLD;  // sigset() also tells whether it is blocked
    return hidden != nullptr && is_handler ? hidden->sa_handler : before;
  });
}

}  // namespace

void catch_signals() {
  recorder->gate.answer_signals_by(answer);
  const bool has_our_stack = give_signal_stack(current_thread().signal_stack);
  for (int number = 1; number < numbers; ++number) {
    struct sigaction now {};
    if (!may_be_the_last(number, now) || is_ours(now)) continue;
    if (is_default(now)) {
      catch_unseen(now, number);
      continue;
    }
    const std::size_t layer = caught(0, number).is_caught ? 1 : 0;
    CaughtSignal& signal = caught(layer, number);
    if (signal.is_caught) continue;
    signal.next = now;
    // Other handlers than ours keep the stack that they run on: they may need a large one, or leave it for another. But
    // if that stack is full, they need ours.
    signal.is_caught = catch_in_place_of(now, layer, number, has_our_stack ? flags_of_stack(number) : 0);
  }
  answer_save_requests();
}

// A handler that has done its work often sets the default and sends the signal again. A signal that is blocked comes
// when the handler has returned, unless a thread waits for it; so may one to the process. Nothing stops SIGKILL.
void prepare_for_own_signal(int number, Receiver receiver) {
  if (kind_of(number) == Kind::harmless || !has_to_keep() || !is_now_default(number) || survives_defaults()) return;
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  if (receiver == Receiver::thread && sigismember(&blocked, number) == 0) {
    leave(static_cast<PartEnd>(number));
  } else if (caught(0, number).may_end_us.exchange(false)) {
    save_with_others(static_cast<PartEnd>(number));
  }
}

void own_signal_was_not_sent(int number) {
  if (kind_of(number) != Kind::harmless) caught(0, number).may_end_us.store(true);
}

// Each time: a handler may jump out of one abort(), and the next one end the process.
void prepare_for_abort() {
  if (has_to_keep()) save_with_others(static_cast<PartEnd>(SIGABRT));
}

void release_signals() {
  struct sigaction now {};
  for (std::size_t layer = layers; layer-- > 0;) {
    for (int number = 1; number < numbers; ++number) {
      CaughtSignal& signal = caught(layer, number);
      const bool is_ours_first =
          signal.is_caught && own_sigaction(number, nullptr, &now) == 0 && handler_of(now) == our_handlers[layer];
      if (is_ours_first) own_sigaction(number, &signal.next, nullptr);
      if (is_ours_first && signal.is_reset.load()) set_default(number);
      signal.is_caught = false;
    }
  }
  if (own_sigaction(live::save_request, nullptr, &now) == 0 && handler_of(now) == on_save_request) {
    set_default(live::save_request);
  }
}

}  // namespace halcyon

extern "C" int halcyon_sigaction(int number, const struct sigaction* action, struct sigaction* before);
HALCYON_INTERPOSE(sigaction);
int halcyon_sigaction(int number, const struct sigaction* action, struct sigaction* before) {
  return halcyon::set_by_program(number, [=](const struct sigaction* hidden) {
    const int result = halcyon_at_sigaction.next()(number, action, before);
    if (result == 0 && before != nullptr && hidden != nullptr) *before = *hidden;
    return result;
  });
}

#define HALCYON_SETS_HANDLER(NAME)                                          \
  extern "C" sighandler_t halcyon_##NAME(int number, sighandler_t handler); \
  HALCYON_INTERPOSE(NAME);                                                  \
  sighandler_t halcyon_##NAME(int number, sighandler_t handler) {           \
    return halcyon::set_handler(halcyon_at_##NAME, number, handler);        \
  }                                                                         \
  static_assert(true)

HALCYON_SETS_HANDLER(signal);
HALCYON_SETS_HANDLER(bsd_signal);
HALCYON_SETS_HANDLER(sysv_signal);
HALCYON_SETS_HANDLER(__sysv_signal);
HALCYON_SETS_HANDLER(ssignal);
HALCYON_SETS_HANDLER(sigset);
