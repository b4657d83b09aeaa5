// Makes a profile out of the parts of a run that did not reach MPI_Finalize.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libprofile/system/outcome.hpp"

namespace halcyon {

/// The part of one rank.
struct PartPlace {
  std::uint32_t rank = 0;
  std::uint32_t file = 0;  // index into RunParts::files
};

/// The parts of one run.
struct RunParts {
  std::uint64_t run = 0;
  std::vector<std::string> files;
  std::vector<PartPlace> parts;  // in order of rank
  /// Files that were given with these, and in which no part can be found: why not. They may be of this run.
  std::vector<std::string> unreadable;
};

/// Finds the parts in these files and directories, grouped by run. Fails if there are none.
Outcome<std::vector<RunParts>> find_parts(const std::vector<std::string>& paths);

struct Recovered {
  std::string profile;  // its file
  std::uint64_t segments = 0;
  int ranks = 0;  // of the run
  int ranks_found = 0;
  bool has_damage = false;  // some of what the ranks saved is not in the profile
  std::string exit_state;
  std::string incomplete;  // what is missing, in a sentence
};

/// Called from time to time: how much is done, from 0 to 1.
using RecoverProgress = std::function<void(double share)>;

/// Merges the segments that all ranks have, up to the end of the shortest part. A part with a damaged block has only
/// the segments before it. Such a part shortens all others, or its segments are left out: the profile gets as many
/// segments times ranks as can be had. It names what is damaged, and the ranks that left no part. One file is open at a
/// time. Memory: 64 MiB, a few MiB for one part, the profile's columns, and two bytes per segment.
Outcome<Recovered> recover(const RunParts& parts, const std::string& output, const RecoverProgress& progress = {});

}  // namespace halcyon
