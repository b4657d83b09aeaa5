// Two runs side by side: which groups did the same work, and how far the disturbance of one run displaced their
// medians.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/analysis.hpp"
#include "analyzer/grouping.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Numbers of two groups, one of each run, that did the same work.
struct GroupPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

/// Pairs of groups that agree in all counts and in the text of their call site, and whose volumes and compute feature
/// are alike by relative distance. CPU time, which itself grows where a machine is disturbed, may differ up to twofold.
/// Where several would do, pairs of the most segments and the nearest medians come first. Each group is in at most one
/// pair; ascending in `a`.
std::vector<GroupPair> match_groups(const Profile& a, const Grouping& groups_a, const Profile& b,
                                    const Grouping& groups_b);

/// Whether a pair is large enough on both sides to be judged.
bool is_judged(const GroupPair& pair, const Grouping& groups_a, const Grouping& groups_b);

/// What continuous interference cost run a against run b, in seconds (seed 002, section 3: "the amount of time the
/// medians are displaced"): sum over the judged pairs of n_a (median_a - median_b). Negative if b was slower.
double median_displacement_seconds(const Profile& a, const Grouping& groups_a, const Profile& b,
                                   const Grouping& groups_b, const std::vector<GroupPair>& pairs);

}  // namespace halcyon
