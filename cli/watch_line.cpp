#include "cli/watch_line.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/watched_jobs.hpp"
#include "report/live.hpp"

namespace halcyon::cli {
namespace {

constexpr std::chrono::seconds between_looks{1};
constexpr std::chrono::seconds between_lines{10};

// Signals are for the main thread, which passes them to the program.
class SignalsForOthers {
 public:
  SignalsForOthers() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsForOthers() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsForOthers(const SignalsForOthers&) = delete;
  SignalsForOthers& operator=(const SignalsForOthers&) = delete;

 private:
  sigset_t before_{};
};

void show(const std::stop_token& stop) {
  const bool on_terminal = isatty(STDERR_FILENO) != 0;
  give_way();
  WatchedJobs jobs({.process = getpid()});
  std::mutex mutex;
  std::condition_variable_any stops;
  std::unique_lock lock(mutex);
  auto last_line = std::chrono::steady_clock::now();
  while (!stops.wait_for(lock, stop, between_looks, [&stop] { return stop.stop_requested(); })) {
    if (!jobs.look() || jobs.views().empty()) continue;
    const std::string words = job_words(jobs.views().front());
    if (on_terminal) {
      show_step(words);
    } else if (std::chrono::steady_clock::now() - last_line >= between_lines) {
      tell(words);
      last_line = std::chrono::steady_clock::now();
    }
  }
  show_step("");
}

}  // namespace

WatchLine::WatchLine() {
  const SignalsForOthers blocked;  // a thread inherits the mask
  thread_ = std::jthread(show);
}

WatchLine::~WatchLine() = default;

}  // namespace halcyon::cli
