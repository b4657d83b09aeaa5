#include "analyzer/phases/common_groups.hpp"

#include <algorithm>

namespace halcyon {
namespace {

constexpr double least_comparable_share = 0.5;

}  // namespace

double CommonGroup::beyond(double relative) const {
  const double most = 2.0 * (level - other_level);
  return std::clamp(relative - other_level, std::min(most, 0.0), std::max(most, 0.0));
}

std::vector<CommonGroup> common_groups(std::span<const GroupLevel> groups, std::span<const GroupLevel> others) {
  std::vector<CommonGroup> common;
  double seconds = 0.0;
  double common_seconds = 0.0;
  auto other = others.begin();
  for (const GroupLevel& group : groups) {
    const double group_seconds = group.level * group.baseline_seconds;
    seconds += group_seconds;
    while (other != others.end() && other->group < group.group) ++other;
    if (other == others.end() || other->group != group.group || !other->is_own) continue;
    common.push_back({group.group, group.level, other->level, group.baseline_seconds});
    common_seconds += group_seconds;
  }
  if (common_seconds < least_comparable_share * seconds) common.clear();
  return common;
}

double factor_of(std::span<const CommonGroup> common) {
  double seconds = 0.0;
  double other_seconds = 0.0;
  for (const CommonGroup& group : common) {
    seconds += group.level * group.baseline_seconds;
    other_seconds += group.other_level * group.baseline_seconds;
  }
  return seconds / other_seconds;
}

const CommonGroup* find_group(std::span<const CommonGroup> common, std::uint32_t group) {
  const auto found = std::lower_bound(common.begin(), common.end(), group,
                                      [](const CommonGroup& one, std::uint32_t number) { return one.group < number; });
  return found != common.end() && found->group == group ? &*found : nullptr;
}

LevelCost cost_of(const ComparedSegments& compared, Stretch stretch, std::span<const CommonGroup> common) {
  LevelCost cost;
  for (std::size_t at = stretch.begin; at < stretch.end; ++at) {
    const CommonGroup* group = find_group(common, compared.group(at));
    if (group == nullptr) continue;
    const double seconds = compared.baseline(at) * compared.segments_for_each();
    cost.other_seconds += group->other_level * seconds;
    cost.beyond_seconds += group->beyond(compared.relative(at)) * seconds;
  }
  return cost;
}

}  // namespace halcyon
