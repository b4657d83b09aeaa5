// What the commands that start a program have in common: the ranks' settings, and the environment that carries them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

/// Options that concern ranks; each has a HALCYON_* variable of the same name, only --inject has INTM_SPEC.
struct RankOptions {
  std::string output;
  std::string counter;
  std::string boundary;
  std::string boundary_ranks;
  std::string memory;
  std::string background;
  std::string spill;
  bool no_probes = false;
  std::vector<std::string> inject;
};
void add_rank_options(const Command& command, RankOptions& options);
/// Those of how a run is recorded: all but --output and --inject. What is in `options` already is the default.
void add_recording_options(const Command& command, RankOptions& options);

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Whose MPI library the ranks have: each family has a recorder and an injector of its own.
enum class MpiFamily { open_mpi, mpich };
/// As the libraries tell it that a program is linked with; nothing of a script, or where it cannot be found.
std::optional<MpiFamily> family_of_program(const std::string& program);
/// Of the program that this process, a rank, is to become.
MpiFamily family_of_rank(const std::string& program);

/// The preload list for the ranks, without what the caller's environment preloads already.
Outcome<std::string> preload_list(const RankOptions& options, MpiFamily family);
/// The HALCYON_* and INTM_* variables for the options that were given.
Environment rank_environment(const RankOptions& options);

/// `ours:theirs`, or ours alone.
std::string joined_preload(const std::string& ours, const std::string& theirs);

/// Where a command is, as a shell would find it.
std::optional<std::string> found_program(const std::string& command);
/// What a command prints, on both its outputs.
std::string output_of(const std::vector<std::string>& command);

/// Replaces this process; returns only on failure.
Failure execute(const std::vector<std::string>& command);

/// What stands behind `--` on the command line of those commands.
std::vector<std::string>& program_arguments();

}  // namespace halcyon::cli
