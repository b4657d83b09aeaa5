// A program of ours that does beside the application what must not be done within it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halcyon {

/// Runs a program of libexec/halcyon. The process is not a child of the application: the application gets no SIGCHLD,
/// and its wait() never returns an unknown process.
class HelperProcess {
 public:
  HelperProcess() = default;
  /// Without answer(), the process finds its input closed.
  ~HelperProcess() { hang_up(); }
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  /// False if it cannot be started; `error` says why.
  bool start(const std::string& name, const std::vector<std::string>& words, std::string& error);
  /// The file descriptor of its standard input.
  int input() const { return input_; }
  /// Takes its input away from this object, which then does not end it.
  int release_input() { return std::exchange(input_, -1); }
  /// Ends its input, and waits for all that it prints. Nothing if it prints nothing for longer than `longest_silence`.
  std::optional<std::string> answer(std::optional<std::chrono::milliseconds> longest_silence = std::nullopt);
  /// For a process that has not answered: it has not ended, so the number is still its own.
  void kill() const;

 private:
  void hang_up();

  int input_ = -1;
  int output_ = -1;
  pid_t process_ = -1;
};

}  // namespace halcyon
