// The input of estimators from a profile: its judged groups, one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/estimate/judged_durations.hpp"
#include "analyzer/groups/families.hpp"
#include "analyzer/evidence/peers.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Each family is a group.
JudgedDurations recorded_groups(const Profile& profile, const Grouping& grouping, const PeerComparison& peers,
                                const Families& families);

/// From the order of the families back to the order of time: (segments), 0 if a segment is not judged. `values`: of all
/// members of the families.
std::vector<float> by_segment(const Profile& profile, const Families& families, const std::vector<float>& values);

}  // namespace halcyon
