#include "cli/launch/signal_relay.hpp"

namespace halcyon::cli {
namespace {

// What the handler must see. Only handlers have global variables.
volatile std::sig_atomic_t address_of_job = 0;  // for kill(); 0 while there is none
volatile std::sig_atomic_t asked = 0;           // the last signal that asked for an end
volatile std::sig_atomic_t held = 0;            // a signal that came while there was no job
volatile std::sig_atomic_t is_interrupted_first = 0;

bool asks_to_end(int signal) { return signal != SIGUSR1 && signal != SIGUSR2; }

void pass_on(int signal) {
  const bool interrupts = is_interrupted_first != 0 && (signal == SIGTERM || signal == SIGHUP);
  if (interrupts) is_interrupted_first = 0;  // who asks again wants it to end at any price
  kill(static_cast<pid_t>(address_of_job), interrupts ? SIGINT : signal);
}

void handle(int signal, siginfo_t* from, void*) {
  if (address_of_job == 0) {
    if (asks_to_end(signal) && asked != 0) return end_by(signal);  // who asks again does not want to wait
    held = signal;
  }
  if (asks_to_end(signal)) asked = signal;
  // A terminal sends its signals to our whole group, so that a job in it has this one already.
  const bool has_it_from_terminal = from->si_code == SI_KERNEL && address_of_job > 0;
  if (address_of_job != 0 && !has_it_from_terminal) pass_on(signal);
}

}  // namespace

SignalRelay::SignalRelay() {
  asked = 0;
  held = 0;
  struct sigaction relay {};
  relay.sa_sigaction = handle;
  relay.sa_flags = SA_SIGINFO;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &relay, &before_[i]);
    // nohup and scripts have some ignored; then they stay ignored.
    if (before_[i].sa_handler == SIG_IGN) sigaction(signals[i], &before_[i], nullptr);
  }
}

SignalRelay::~SignalRelay() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
}

Outcome<JobEnd> SignalRelay::wait(Job& job, bool interrupts_first) {
  is_interrupted_first = interrupts_first ? 1 : 0;
  address_of_job = static_cast<std::sig_atomic_t>(job.address());
  if (const int signal = held; signal != 0) {
    held = 0;
    pass_on(signal);
  }
  Outcome<JobEnd> end = job.wait();
  address_of_job = 0;
  return end;
}

int SignalRelay::asked_to_end() const { return asked; }

void SignalRelay::end_as_asked() const {
  if (asked_to_end() != 0) end_by(asked_to_end());
}

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace halcyon::cli
