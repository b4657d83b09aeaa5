// The input of estimators from a profile: its judged groups, one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/estimate/judged_durations.hpp"
#include "analyzer/groups/grouping.hpp"
#include "analyzer/judge/peers.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// `judged`: numbers of the groups, ascending.
JudgedDurations recorded_groups(const Profile& profile, const Grouping& grouping, const PeerComparison& peers,
                                std::span<const std::uint32_t> judged);

/// From the order of the judged groups back to the order of time: (segments), 0 if the group is not judged. `values`:
/// of all segments of the judged groups.
std::vector<float> by_segment(const Grouping& grouping, std::span<const std::uint32_t> judged,
                              const std::vector<float>& values);

}  // namespace halcyon
