// A task of this command while the started program runs.
#pragma once

#include <functional>
#include <thread>

namespace halcyon::cli {

/// Called in its own thread. Returns soon after it is asked to stop.
using Beside = std::function<void(const std::stop_token&)>;

/// Runs it while it lives; without it, and with a word about it, if no thread can be started. Signals to this process
/// go to the main thread, which passes them to the program.
class ThreadBeside {
 public:
  explicit ThreadBeside(const Beside& beside);

 private:
  std::jthread thread_;
};

/// Waits for `seconds`, or until the thread is asked to stop. Returns whether the thread should continue.
bool waited(const std::stop_token& stop, double seconds);

}  // namespace halcyon::cli
