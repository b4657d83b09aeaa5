// One run of a launch command with the recorder in its ranks, from start to end.
#pragma once

#include <optional>
#include <string>

#include "cli/launch/launchers.hpp"
#include "cli/launch/signal_relay.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

struct RecordedRunRequest {
  Words prefix;   // comes before the command, such as nsenter and its options; mostly empty
  Words command;  // mpirun and everything after it
  Launcher launcher;
  RankOptions options;         // with an absolute output
  std::string injection_seed;  // if options.inject is given
  std::string log;             // file for its output; it then has no input; empty: it uses our streams
  int lock = -1;               // descriptor of a lock that its launcher also holds; -1: none
};

struct RecordedRunEnd {
  int status = 0;                      // of the launch command; 128 + signal if a signal ended it
  std::optional<std::string> profile;  // the file that rank 0 wrote, or the directory of parts
  bool is_of_parts = false;            // the run did not reach MPI_Finalize, or could not write a profile
  bool has_other_hosts = false;        // for parts: some ranks ran on hosts without any of these parts
};

/// Why a run that ended well left no profile, which was to be `output`, as far as its command tells.
std::string no_profile_words(const Words& command, const std::string& output);
/// How to find out more about a run that went wrong.
std::string check_words(const Words& command);

/// Waits for the end. A failure means that the program was not started.
Outcome<RecordedRunEnd> run_recorded(const RecordedRunRequest& request, SignalRelay& relay);

/// The same command for a shell, without the variables that identify this run for this process.
Outcome<std::string> command_line(const RecordedRunRequest& request);

}  // namespace halcyon::cli
