// The process that writes the profile, started by rank 0 when the run ends.
#pragma once

#include <string>

#include "libprofile/system/helper_process.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon {

/// Runs halcyon-write for one file. Without finish(), it gives up.
class WriterProcess {
 public:
  /// False if it cannot be started; `error` says why. `spool`: that of the ledger which gets a row of the run, empty if
  /// none does.
  bool start(const std::string& path, const std::string& spool, std::string& error);
  /// The file descriptor that takes the frames.
  int input() const { return process_.input(); }
  /// Ends the frames and waits for the outcome: the file name that the profile got.
  Outcome<std::string> finish();

 private:
  HelperProcess process_;
};

}  // namespace halcyon
