// `halcyon exec` in a launch command: it starts the program in each rank, perhaps in a container that only the ranks
// see.
#pragma once

#include <optional>
#include <string>

#include "cli/launch/diagnosis.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/launch/program.hpp"

namespace halcyon::cli {

/// The command of a rank: the options of `halcyon exec`, and the program behind '--'.
struct RankCommand {
  Words options;
  Words program;
};
/// Nothing if the words do not begin with `halcyon exec`.
std::optional<RankCommand> rank_command(const Words& words);

/// Whether `halcyon exec` starts each program of the job: it then preloads the recorder, not the launcher.
bool is_started_by_exec(const Words& launch);

/// What `halcyon doctor` says in the place of `halcyon exec`: what starts it in the ranks is started once with it, the
/// launcher is not. Of several programs, that of the first that cannot be recorded, or else of the first.
/// `output`: where the profile is to be written.
Diagnosis diagnosis_in_ranks(const Words& launch, const Launcher& launcher, const std::string& output);

/// Whether a program is known to start others in a container, of which nothing is seen from here.
bool starts_containers(const std::string& program);

/// What will keep the programs from being recorded, or may where they are started in a container; empty if nothing is
/// known of it.
std::string obstacle_in_ranks(const Words& launch, const Launcher& launcher, const std::string& output);

}  // namespace halcyon::cli
