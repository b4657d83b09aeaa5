// One recorded run from the command line, from its checks to the closing lines of its report.
#pragma once

#include <string>

#include "cli/console/command.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/running/beside.hpp"

namespace halcyon::cli {

struct RunOptions {
  RankOptions ranks;
  std::string json;
  std::string html;
  bool no_baseline = false;
  bool no_witness = false;
  bool is_dry = false;
  bool tells_first = false;  // what is recorded, and whether the host is busy
};
void add_run_options(const Command& command, RunOptions& options);

/// Records the run, with `beside` while it runs, and prints its verdict. Returns the exit status of this command: that
/// of the program, or one for a failure of this command.
int run_and_report(const RunOptions& options, const Words& launch, const Beside& beside = {});

}  // namespace halcyon::cli
