// How far a run lies above the best of earlier runs of the same work. One run by itself cannot show that.
#pragma once

#include <optional>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/known/known_work.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// None where it is other work, by the test of `compare` (compare/comparison.hpp): nine tenths of the judged segments
/// of either must have one of the same signature in the other. Also, half of the run time must lie in matched groups,
/// or there must be as many segments with as much work and volume. The displacement is the sum over the matched judged
/// groups of n (median - best known median). Its interval is that of the medians' errors. It reaches further down by
/// what the best of k medians is below their mean by chance alone. Of the parts: see beyond_parts().
std::optional<KnownRuns> displacement_from(const Profile& profile, const Grouping& grouping, const KnownWork& known);

/// Whether half of the run time lies in matched groups. With less, the displacement of groups says too little.
bool knows_groups(const KnownRuns& known, const Profile& profile);

}  // namespace halcyon
