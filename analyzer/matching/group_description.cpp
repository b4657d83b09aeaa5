#include "analyzer/matching/group_description.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/statistics/durations.hpp"

namespace halcyon {

FeatureRange range_of(const FeatureColumn& column, std::span<const std::uint32_t> members) {
  const auto value = [&column](std::uint32_t segment) { return column.bins[column.bin_of(segment)]; };
  FeatureRange range{value(members.front()), value(members.front()), value(members.front())};
  if (column.index.empty()) return range;
  for (const std::uint32_t segment : members) {
    range.least = std::min(range.least, value(segment));
    range.greatest = std::max(range.greatest, value(segment));
  }
  if (range.least == range.greatest) return range;
  Eigen::ArrayXd values(static_cast<Eigen::Index>(members.size()));
  std::transform(members.begin(), members.end(), values.data(), value);
  range.median = median(std::move(values));
  return range;
}

Signature signature_of(const Profile& profile, std::uint32_t segment) {
  Signature signature{profile.sites[site_of(profile, segment)]};
  for (const FeatureInfo& info : features) {
    if (info.kind != FeatureKind::count) continue;
    const FeatureColumn& column = profile.features[index_of(info.feature)];
    signature.counts[index_of(info.feature)] = column.bins[column.bin_of(segment)];
  }
  return signature;
}

GroupDescription describe_group(const Profile& profile, std::span<const std::uint32_t> members) {
  GroupDescription description{signature_of(profile, members.front()), members.size(), {}};
  for (const FeatureInfo& info : features) {
    if (info.kind == FeatureKind::count) continue;
    const std::size_t at = index_of(info.feature);
    description.ranges[at] = range_of(profile.features[at], members);
  }
  return description;
}

std::vector<GroupDescription> describe_groups(const Profile& profile, const Grouping& grouping) {
  std::vector<GroupDescription> descriptions;
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    descriptions.push_back(describe_group(profile, grouping.members(group)));
  }
  return descriptions;
}

std::size_t shared_segments(std::span<const GroupDescription> a, std::span<const GroupDescription> b) {
  std::map<Signature, std::pair<std::size_t, std::size_t>> segments;
  for (const GroupDescription& group : a) segments[group.signature].first += group.segments;
  for (const GroupDescription& group : b) segments[group.signature].second += group.segments;
  std::size_t shared = 0;
  for (const auto& [signature, of_runs] : segments) shared += std::min(of_runs.first, of_runs.second);
  return shared;
}

}  // namespace halcyon
