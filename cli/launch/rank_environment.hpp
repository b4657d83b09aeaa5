// The settings that the command passes to the ranks in their environment.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace halcyon::cli {

/// Each option has a HALCYON_* variable of the same name; --inject has INTM_SPEC.
struct RankOptions {
  std::string output;
  std::string counter;
  std::string boundary;
  std::string boundary_ranks;
  std::string memory;
  std::string background;
  std::string spill;
  bool no_probes = false;
  bool no_names = false;
  std::string live;
  std::vector<std::string> label;
  std::string note;
  std::vector<std::string> inject;
};

/// Names and values.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// The HALCYON_* and INTM_* variables for the options that were given.
Environment rank_environment(const RankOptions& options);

}  // namespace halcyon::cli
