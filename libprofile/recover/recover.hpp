// Makes a profile out of the parts of a run that did not reach MPI_Finalize.
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

/// Finds the parts in these files and directories, grouped by run.
Outcome<std::vector<RunParts>> find_parts(const std::vector<std::string>& paths);

struct Recovered {
  std::string profile;  // its file
  std::uint64_t segments = 0;
  int ranks = 0;  // of the run
  int ranks_found = 0;
  std::string exit_state;
  std::string incomplete;  // what is missing, in a sentence
};

/// Merges the segments that all ranks have: up to the end of the shortest part. The profile names the ranks that left
/// no part. Memory: one block of segments per part, and the profile's own columns.
Outcome<Recovered> recover(const RunParts& parts, const std::string& output);

}  // namespace halcyon
