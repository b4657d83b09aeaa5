// The process that writes the profile, started by rank 0 when the run ends.
#pragma once

#include <string>

#include "libprofile/system/outcome.hpp"

namespace halcyon {

/// Runs halcyon-write for one file. The process is not a child of the application: the application gets no SIGCHLD, and
/// its wait() never returns an unknown process.
class WriterProcess {
 public:
  WriterProcess() = default;
  /// Without finish(), the process gives up.
  ~WriterProcess() { hang_up(); }
  WriterProcess(const WriterProcess&) = delete;
  WriterProcess& operator=(const WriterProcess&) = delete;

  /// False if it cannot be started; `error` says why. `spool`: that of the ledger which gets a row of the run, empty if
  /// none does; the profile then stays only if it `keeps_profile`.
  bool start(const std::string& path, const std::string& spool, bool keeps_profile, std::string& error);
  /// The file descriptor that takes the frames.
  int input() const { return input_; }
  /// Ends the frames and waits for the outcome: the file name that the profile got.
  Outcome<std::string> finish();

 private:
  void hang_up();

  int input_ = -1;
  int output_ = -1;
};

}  // namespace halcyon
