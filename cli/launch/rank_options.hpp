// The options of the command line that concern ranks.
#pragma once

#include "cli/console/command.hpp"
#include "cli/launch/rank_environment.hpp"

namespace halcyon::cli {

void add_rank_options(const Command& command, RankOptions& options);
/// Those of how a run is recorded: all but --output and --inject. What is in `options` already is the default.
void add_recording_options(const Command& command, RankOptions& options);

}  // namespace halcyon::cli
