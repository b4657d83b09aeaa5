#include "libprofile/record/exit_gate.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "libprofile/interpose/spokesman.hpp"

namespace halcyon {
namespace {

std::atomic<int> leaving{0};  // threads

// Until a flag that another thread holds is down; it may be that this thread is dead, so not for ever. False: it is up.
template <class IsUp>
bool wait_for(IsUp is_up) {
  constexpr int most_waits = 1000;
  for (int i = 0; i < most_waits && is_up(); ++i) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return !is_up();
}

std::atomic<pid_t> uses_sessions{0};  // this process, where it does

}  // namespace

bool is_the_recorded_process() { return recorder != nullptr && getpid() == recorder->process; }
bool has_to_keep() { return is_the_recorded_process() && recorder->unsaved.load(); }

bool is_being_left() { return leaving.load() != 0; }
void wait_until_spilled() { wait_for(is_being_left); }

void leave(PartEnd end, LastLook look) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  leaving.fetch_add(1);
  const auto changes = [] { return recorder->changing.load() != nullptr; };
  recording.store(false);
  if (wait_for(changes) && recorder->unsaved.exchange(false)) {
    if (look == LastLook::taken) recorder->look_at_system();
    if (recorder->spill(end)) {
      [[maybe_unused]] const ssize_t written =
          write(STDERR_FILENO, recorder->last_line.data(), recorder->last_line.size());
    }
  }
  leaving.fetch_sub(1);
  wait_for(is_being_left);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void note_session() { uses_sessions.store(getpid()); }

namespace {

// Runs at exit; only speaks if this very process should have a profile, and never reached MPI_Finalize.
[[gnu::destructor]] void report_missing_finalize() {
  if (recorder == nullptr && uses_sessions.load() == getpid() && is_spokesman()) {
    complain("a program of MPI sessions alone, without MPI_Init, is not recorded: no profile is written");
  }
  if (!has_to_keep()) return;
  const NotRecorded guard;
  leave(part_has_exited, LastLook::taken);
  if (recorder->rank == 0 && !recorder->part.is_open()) {
    complain("the program ended without MPI_Finalize: no profile is written (" + recorder->settings.command + ")");
  }
}

}  // namespace
}  // namespace halcyon
