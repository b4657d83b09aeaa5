// The process that writes the profile, started by rank 0 when the run ends.
#pragma once

#include <string>

#include "libprofile/format/outcome.hpp"

namespace halcyon {

/// Runs halcyon-write for one file. Its parent is not the application: no SIGCHLD reaches it, no wait() of its own ever
/// meets a stranger.
class WriterProcess {
 public:
  WriterProcess() = default;
  /// One that is not finished gives up.
  ~WriterProcess() { hang_up(); }
  WriterProcess(const WriterProcess&) = delete;
  WriterProcess& operator=(const WriterProcess&) = delete;

  /// False if it cannot be started; `error` says why.
  bool start(const std::string& path, std::string& error);
  /// Where frames go.
  int input() const { return input_; }
  /// Ends the frames and waits for the outcome: the name that the profile got.
  Outcome<std::string> finish();

 private:
  void hang_up();

  int input_ = -1;
  int output_ = -1;
};

}  // namespace halcyon
