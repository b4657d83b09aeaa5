#include "analyzer/known/judged_groups.hpp"

#include <algorithm>
#include <array>

#include "analyzer/groups/clusters.hpp"
#include "analyzer/matching/group_match.hpp"
#include "analyzer/statistics/median.hpp"

namespace halcyon {
namespace {

// A group that has far fewer segments in one of two runs may be the faster part of what is one group in the other.
constexpr double least_share_of_segments = 0.8;

// Work and volumes of a segment, on average over those that are judged.
std::array<double, feature_count> mean_features(const std::vector<GroupDescription>& groups) {
  std::array<double, feature_count> mean{};
  double segments = 0.0;
  for (const GroupDescription& group : groups) {
    const auto n = static_cast<double>(group.segments);
    segments += n;
    for (std::size_t at = 0; at < feature_count; ++at) mean[at] += n * group.ranges[at].median;
  }
  for (double& value : mean) value /= segments;
  return mean;
}

}  // namespace

double JudgedGroups::segments() const {
  double segments = 0.0;
  for (const GroupDescription& group : descriptions) segments += static_cast<double>(group.segments);
  return segments;
}

JudgedGroups judged_groups(const GroupedRun& run) {
  JudgedGroups judged;
  for (std::uint32_t group = 0; group < run.grouping.groups.count; ++group) {
    const auto members = run.grouping.members(group);
    if (members.size() < smallest_judged_group) continue;
    judged.groups.push_back(group);
    judged.descriptions.push_back(describe_group(run.profile, members));
  }
  return judged;
}

std::vector<KnownPair> pairs_of(const JudgedGroups& judged, const std::vector<GroupDescription>& known,
                                bool by_cpu_time) {
  std::vector<KnownPair> pairs;
  for (const GroupPair& pair : match_groups(judged.descriptions, known, by_cpu_time)) {
    const auto [fewer, more] = std::minmax(judged.descriptions[pair.a].segments, known[pair.b].segments);
    if (static_cast<double>(fewer) < least_share_of_segments * static_cast<double>(more)) continue;
    pairs.push_back({pair.a, pair.b});
  }
  return pairs;
}

bool is_as_much_work(const std::vector<GroupDescription>& a, const std::vector<GroupDescription>& b, bool by_cpu_time) {
  const std::array<double, feature_count> of_a = mean_features(a);
  const std::array<double, feature_count> of_b = mean_features(b);
  return std::all_of(features.begin(), features.end(), [&](const FeatureInfo& info) {
    const std::size_t at = index_of(info.feature);
    const bool may_grow = info.feature == Feature::compute && by_cpu_time;
    return relative_distance(of_a[at], of_b[at]) < (may_grow ? most_growth_of_cpu_time : relative_distance_threshold);
  });
}

MedianDuration median_duration(const GroupedRun& run, std::uint32_t group) {
  const std::vector<float> durations = ascending_durations(run.profile, run.grouping.members(group));
  return {median_of_ascending(durations), error_of_median(durations)};
}

}  // namespace halcyon
