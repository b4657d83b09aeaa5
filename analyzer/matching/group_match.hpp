// Which groups of two runs did the same work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/matching/group_description.hpp"
#include "analyzer/groups/grouping.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// In percent of the segments. A solver that takes one more step still does the same work. A run with other input does
/// not.
inline constexpr double least_shared_percent = 90.0;

/// Relative distance. A core that shares its pipelines, caches or memory with other work gets slower by no more than
/// this.
inline constexpr double most_growth_of_cpu_time = 1.0;

/// Numbers of two groups, one of each run, that did the same work.
struct GroupPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

/// Pairs of groups that agree in all counts and in the text of their call site, and whose volumes and compute feature
/// are close by relative distance. CPU time grows on a disturbed machine, so it may differ by up to a factor of two. If
/// all of it differs by a common factor, that factor is removed first. If several partners are possible, pairs with the
/// most segments and the closest medians come first. Each group is in at most one pair. Ascending in `a`.
std::vector<GroupPair> match_groups(std::span<const GroupDescription> a, std::span<const GroupDescription> b,
                                    bool by_cpu_time);
std::vector<GroupPair> match_groups(const GroupedRun& a, const GroupedRun& b);

/// Whether both runs measured their work by CPU time.
bool measure_work_by_cpu_time(const Profile& a, const Profile& b);

/// Whether a pair is large enough on both sides to be judged.
bool is_judged(const GroupPair& pair, const Grouping& groups_a, const Grouping& groups_b);

}  // namespace halcyon
