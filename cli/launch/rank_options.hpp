// The options of the command line that concern ranks.
#pragma once

#include "cli/console/command.hpp"
#include "cli/launch/rank_environment.hpp"

namespace halcyon::cli {

void add_rank_options(const Command& command, RankOptions& options);
/// The options for recording: all except --output and --inject. The values already in `options` are the defaults.
void add_recording_options(const Command& command, RankOptions& options);

}  // namespace halcyon::cli
