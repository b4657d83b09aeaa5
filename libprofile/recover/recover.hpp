// A profile out of the parts that a run left which did not reach MPI_Finalize.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/format/outcome.hpp"

namespace halcyon {

/// The parts of one run.
struct RunParts {
  std::uint64_t run = 0;
  std::vector<std::string> files;  // in order of rank
};

/// Of files and directories of parts, run by run.
Outcome<std::vector<RunParts>> find_parts(const std::vector<std::string>& paths);

struct Recovered {
  std::string profile;  // its file
  std::uint64_t segments = 0;
  int ranks = 0;  // of the run
  int ranks_found = 0;
  std::string exit_state;
  std::string incomplete;  // what is missing, in a sentence
};

/// Merges what the ranks have in common: the segments up to the end of the shortest part. Ranks that left nothing are
/// named in the profile. Memory: one block of segments per part, and the profile's own columns.
Outcome<Recovered> recover(const RunParts& parts, const std::string& output);

}  // namespace halcyon
