#include "analyzer/comparison.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "analyzer/estimators.hpp"

namespace halcyon {
namespace {

// A core that shares its pipelines, caches or memory with another's work does not get slower than this by it.
constexpr double most_growth_of_cpu_time = 1.0;

/// The values of a feature in a group: its chain of bins, in three numbers.
struct Range {
  double least = 0.0;
  double median = 0.0;
  double greatest = 0.0;
};

/// What is the same for all segments of a group: compared exactly. Values, not bins, which differ between profiles.
struct Signature {
  std::string_view site;
  std::array<double, feature_count> counts{};  // zero for what is no count
  auto operator<=>(const Signature&) const = default;
};

struct Description {
  bool of_a = true;
  std::uint32_t group = 0;
  std::size_t segments = 0;
  std::array<Range, feature_count> ranges;  // of work and volumes
};

Range range_of(const FeatureColumn& column, const std::vector<std::uint32_t>& members) {
  if (column.index.empty()) return {column.bins.front(), column.bins.front(), column.bins.front()};
  Eigen::ArrayXd values(static_cast<Eigen::Index>(members.size()));
  for (std::size_t i = 0; i < members.size(); ++i) {
    values[static_cast<Eigen::Index>(i)] = column.bins[column.index[members[i]]];
  }
  return {values.minCoeff(), median(values), values.maxCoeff()};
}

Signature signature_of(const Profile& profile, std::uint32_t segment) {
  Signature signature{profile.sites[profile.site.empty() ? 0 : profile.site[segment]]};
  for (const FeatureInfo& info : features) {
    if (info.kind != FeatureKind::count) continue;
    const FeatureColumn& column = profile.features[index_of(info.feature)];
    signature.counts[index_of(info.feature)] = column.bins[column.bin_of(segment)];
  }
  return signature;
}

using BySignature = std::map<Signature, std::vector<Description>>;

void describe(const Profile& profile, const Grouping& grouping, bool of_a, BySignature& all) {
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    const std::vector<std::uint32_t>& members = grouping.members[group];
    Description description{of_a, group, members.size(), {}};
    for (const FeatureInfo& info : features) {
      if (info.kind == FeatureKind::count) continue;
      const std::size_t at = index_of(info.feature);
      description.ranges[at] = range_of(profile.features[at], members);
    }
    all[signature_of(profile, members.front())].push_back(description);
  }
}

// Cuts groups where the chains of values that both runs make together are cut: the rule of cluster_ascending, for
// ranges.
std::vector<std::vector<Description>> split_by(std::size_t feature, std::vector<Description> together) {
  const auto range = [feature](const Description& description) { return description.ranges[feature]; };
  std::sort(together.begin(), together.end(), [&range](const Description& x, const Description& y) {
    return std::pair(range(x).least, x.group) < std::pair(range(y).least, y.group);
  });
  std::vector<std::vector<Description>> parts;
  double reached = 0.0;
  for (Description& description : together) {
    const Range& values = range(description);
    const bool far = values.least > reached && relative_distance(reached, values.least) >= relative_distance_threshold;
    if (parts.empty() || far) parts.emplace_back();
    reached = parts.back().empty() ? values.greatest : std::max(reached, values.greatest);
    parts.back().push_back(std::move(description));
  }
  return parts;
}

struct Candidate {
  GroupPair pair;
  double score = 0.0;
};

// Best first. A score prefers the pair that explains more segments, unless a nearer one explains nearly as many: were
// it nearness alone, a few stray segments would take the partner of a large group that a disturbed run has slowed down.
void match_alike(const std::vector<Description>& alike, double most_distance_of_compute,
                 std::vector<GroupPair>& pairs) {
  constexpr std::size_t compute = index_of(Feature::compute);
  std::vector<Candidate> candidates;
  for (const Description& x : alike) {
    if (!x.of_a) continue;
    for (const Description& y : alike) {
      if (y.of_a) continue;
      double distance = relative_distance(x.ranges[compute].median, y.ranges[compute].median);
      if (distance > most_distance_of_compute) continue;
      for (const FeatureInfo& info : features) {
        if (info.kind != FeatureKind::volume) continue;
        const std::size_t at = index_of(info.feature);
        distance = std::max(distance, relative_distance(x.ranges[at].median, y.ranges[at].median));
      }
      candidates.push_back(
          {{x.group, y.group}, static_cast<double>(std::min(x.segments, y.segments)) / (1.0 + distance)});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    if (x.score != y.score) return x.score > y.score;
    return std::pair(x.pair.a, x.pair.b) < std::pair(y.pair.a, y.pair.b);
  });
  std::unordered_set<std::uint32_t> taken_of_a;
  std::unordered_set<std::uint32_t> taken_of_b;
  for (const Candidate& candidate : candidates) {
    if (taken_of_a.count(candidate.pair.a) != 0 || taken_of_b.count(candidate.pair.b) != 0) continue;
    taken_of_a.insert(candidate.pair.a);
    taken_of_b.insert(candidate.pair.b);
    pairs.push_back(candidate.pair);
  }
}

}  // namespace

std::vector<GroupPair> match_groups(const Profile& a, const Grouping& groups_a, const Profile& b,
                                    const Grouping& groups_b) {
  BySignature by_signature;
  describe(a, groups_a, true, by_signature);
  describe(b, groups_b, false, by_signature);
  const bool by_cpu_time = a.counter == "cpu" && b.counter == "cpu";
  std::vector<GroupPair> pairs;
  for (auto& [signature, descriptions] : by_signature) {
    std::vector<std::vector<Description>> parts{std::move(descriptions)};
    for (const FeatureInfo& info : features) {
      if (info.kind == FeatureKind::count || (info.kind == FeatureKind::work && by_cpu_time)) continue;
      std::vector<std::vector<Description>> finer;
      for (std::vector<Description>& part : parts) {
        for (std::vector<Description>& piece : split_by(index_of(info.feature), std::move(part))) {
          finer.push_back(std::move(piece));
        }
      }
      parts = std::move(finer);
    }
    const double most_distance = by_cpu_time ? most_growth_of_cpu_time : std::numeric_limits<double>::infinity();
    for (const std::vector<Description>& part : parts) match_alike(part, most_distance, pairs);
  }
  std::sort(pairs.begin(), pairs.end(), [](const GroupPair& x, const GroupPair& y) { return x.a < y.a; });
  return pairs;
}

bool is_judged(const GroupPair& pair, const Grouping& groups_a, const Grouping& groups_b) {
  return groups_a.members[pair.a].size() >= smallest_judged_group &&
         groups_b.members[pair.b].size() >= smallest_judged_group;
}

double median_displacement_seconds(const Profile& a, const Grouping& groups_a, const Profile& b,
                                   const Grouping& groups_b, const std::vector<GroupPair>& pairs) {
  double seconds = 0.0;
  for (const GroupPair& pair : pairs) {
    if (!is_judged(pair, groups_a, groups_b)) continue;
    const Durations x = durations_of(a, groups_a.members[pair.a]);
    seconds += static_cast<double>(x.size()) * (median(x) - median(durations_of(b, groups_b.members[pair.b])));
  }
  return seconds;
}

}  // namespace halcyon
