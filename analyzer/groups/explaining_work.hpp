// Whose work determines how long a segment takes.
#pragma once

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The compute feature that explains the durations of segments: the median over ranks, or the largest of any rank where
/// durations at equal work spread much less with it. The median does not mind what disturbs the CPU time of one rank;
/// but where ranks have unequal work of their own, all wait for the one that has most.
const FeatureColumn& explaining_work(const Profile& profile);

}  // namespace halcyon
