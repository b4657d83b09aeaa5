#include "cli/running/beside.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include "cli/console/output.hpp"

namespace halcyon::cli {
namespace {

// A thread inherits the mask of the one that starts it.
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

}  // namespace

ThreadBeside::ThreadBeside(const Beside& beside) {
  const SignalsForOthers blocked;
  try {
    thread_ = std::jthread([beside](const std::stop_token& stop) {
      try {
        beside(stop);
      } catch (const std::exception& error) {  // the run goes on without it
        tell("what looks at the run has ended: " + words_of(error));
      }
    });
  } catch (const std::system_error& error) {
    tell("the run is not shown while it runs: " + words_of(error));
  }
}

bool waited(const std::stop_token& stop, double seconds) {
  std::mutex mutex;
  std::condition_variable_any stops;
  std::unique_lock lock(mutex);
  return !stops.wait_for(lock, stop, std::chrono::duration<double>(seconds), [&stop] { return stop.stop_requested(); });
}

}  // namespace halcyon::cli
