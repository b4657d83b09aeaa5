// Groups of one run share what they show about the disturbance.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/estimate/explain.hpp"

namespace halcyon {

/// The same disturbance strikes all groups: its delays are equally long in each, and nearly equally frequent per second
/// or per call. Multiplies the evidence of each group's explanations by their agreement with the groups in `telling`.
/// `calls`: (groups) MPI and file operations of a segment.
void share_between_groups(std::vector<std::vector<Explanation>>& groups, const std::vector<double>& calls,
                          const std::vector<std::size_t>& telling);

}  // namespace halcyon
