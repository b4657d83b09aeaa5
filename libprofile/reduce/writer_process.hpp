// The process that writes the profile, started by rank 0 when the run ends.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "libprofile/system/helper_process.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon {

/// Runs halcyon-write for one file, or halcyon-save for one that only a ledger wants. Without finish(), it gives up.
class WriterProcess {
 public:
  /// False if it cannot be started; `error` says why. `spool`: that of the ledger which gets a row of the run, empty if
  /// none does; the profile then stays only if it `keeps_profile`.
  bool start(const std::string& path, const std::string& spool, bool keeps_profile, std::string& error);
  /// The file descriptor that takes the frames.
  int input() const { return process_.input(); }
  /// Ends the frames and waits for the outcome: the file name that the profile got. No longer than for
  /// `longest_silence` if nothing is told meanwhile; the process then goes on.
  Outcome<std::string> finish(std::optional<std::chrono::milliseconds> longest_silence);

 private:
  HelperProcess process_;
  std::string name_;
};

}  // namespace halcyon
