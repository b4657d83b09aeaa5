// Two stretches of a run, compared by the groups that they have in common: how many times as long segments take in one
// of them, and what that costs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/phases/repeated_work.hpp"
#include "analyzer/phases/stretches.hpp"

namespace halcyon {

/// A group of two stretches, with its level in each.
struct CommonGroup {
  std::uint32_t group = 0;
  double level = 1.0;        // in the stretch that is compared
  double other_level = 1.0;  // in the one that it is compared with
  double baseline_seconds = 0.0;

  /// What a segment of the stretch took beyond the other level, in units of its baseline. It counts for no more than
  /// twice the difference of both levels, so that rare long delays are no part of a level, and for nothing if it is on
  /// the far side of the other level.
  double beyond(double relative) const;
};

/// Ascending by group. Those with a level of their own in the other stretch. Empty if they hold less than half of the
/// time of the first stretch.
std::vector<CommonGroup> common_groups(std::span<const GroupLevel> groups, std::span<const GroupLevel> others);

/// Null if the group is not one of them.
const CommonGroup* find_group(std::span<const CommonGroup> common, std::uint32_t group);

/// How many times as long the segments of the stretch take at its levels as at the others. By medians, from a sample.
double factor_of(std::span<const CommonGroup> common);

/// Those of the compared segments in a stretch that are in common groups.
struct LevelCost {
  double other_seconds = 0.0;   // what they would take at the other level
  double beyond_seconds = 0.0;  // what they took beyond; negative if they took less

  double factor() const { return 1.0 + beyond_seconds / other_seconds; }
};

/// From all segments of the stretch. Half of the segments may take much longer, and half not at all: medians know
/// nothing of this, sums do.
LevelCost cost_of(const ComparedSegments& compared, Stretch stretch, std::span<const CommonGroup> common);

}  // namespace halcyon
