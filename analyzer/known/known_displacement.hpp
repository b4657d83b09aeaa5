// How far a run is above the best of earlier runs of the same work. One run alone cannot show this.
#pragma once

#include <optional>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/known/known_work.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// None if the work differs. The test is that of `compare` (compare/comparison.hpp): nine tenths of the judged segments
/// of either must have a partner with the same signature in the other. Also, half of the run time must be in matched
/// groups, or the number of segments, the work and the volumes must be the same. The displacement is the sum over the
/// matched judged groups of n (median - best known median). Its interval comes from the medians' errors. Its lower end
/// is lowered further, since the best of k medians is below their mean by chance. For the parts, see beyond_parts().
std::optional<KnownRuns> displacement_from(const Profile& profile, const Grouping& grouping, const KnownWork& known);

/// Whether half of the run time is in matched groups. With less, the displacement of groups says too little.
bool knows_groups(const KnownRuns& known, const Profile& profile);

}  // namespace halcyon
