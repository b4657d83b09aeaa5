// Groups of one run tell each other what disturbs them.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/estimate/explain.hpp"

namespace halcyon {

/// The same disturbance strikes all groups: its delays last as long in each, and come nearly as often in a second or in
/// a call. Multiplies each group's evidence by what the groups in `telling` say to its explanations.
/// `calls`: (groups) MPI and file operations of a segment.
void share_between_groups(std::vector<std::vector<Explanation>>& groups, const std::vector<double>& calls,
                          const std::vector<std::size_t>& telling);

}  // namespace halcyon
