#include "analyzer/groups/group_match.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <unordered_set>
#include <utility>

#include "analyzer/statistics/sorting.hpp"
#include "analyzer/statistics/durations.hpp"

namespace halcyon {
namespace {

// What a delay leaves behind, caches to be filled again, costs microseconds however short the work.
constexpr double cold_start_nanoseconds = 1e4;

struct Described {
  bool of_a = true;
  std::uint32_t group = 0;
  const GroupDescription* what = nullptr;
};

// Cuts groups where the chains of values that both runs make together are cut: the rule of cluster_ascending, for
// ranges.
std::vector<std::vector<Described>> split_by(std::size_t feature, std::vector<Described> together) {
  const auto range = [feature](const Described& description) { return description.what->ranges[feature]; };
  std::sort(together.begin(), together.end(), [&range](const Described& x, const Described& y) {
    return std::pair(range(x).least, x.group) < std::pair(range(y).least, y.group);
  });
  std::vector<std::vector<Described>> parts;
  double reached = 0.0;
  for (const Described& description : together) {
    const FeatureRange& values = range(description);
    const bool far = values.least > reached && relative_distance(reached, values.least) >= relative_distance_threshold;
    if (parts.empty() || far) parts.emplace_back();
    reached = parts.back().empty() ? values.greatest : std::max(reached, values.greatest);
    parts.back().push_back(description);
  }
  return parts;
}

struct Candidate {
  GroupPair pair;
  double score = 0.0;
};

// Best first. A score prefers the pair that explains more segments, unless a nearer one explains nearly as many: were
// it nearness alone, a few stray segments would take the partner of a large group that a disturbed run has slowed down.
// `speed`: how much more CPU time all work of a took. Returns the sum of the scores.
double match_alike(const std::vector<Described>& alike, bool by_cpu_time, double speed, std::vector<GroupPair>& pairs) {
  constexpr std::size_t compute = index_of(Feature::compute);
  std::vector<Candidate> candidates;
  for (const Described& x : alike) {
    if (!x.of_a) continue;
    for (const Described& y : alike) {
      if (y.of_a) continue;
      double distance = relative_distance(x.what->ranges[compute].median, speed * y.what->ranges[compute].median);
      if (by_cpu_time &&
          relative_distance(x.what->ranges[compute].median + cold_start_nanoseconds,
                            y.what->ranges[compute].median + cold_start_nanoseconds) > most_growth_of_cpu_time) {
        continue;
      }
      for (const FeatureInfo& info : features) {
        if (info.kind != FeatureKind::volume) continue;
        const std::size_t at = index_of(info.feature);
        distance = std::max(distance, relative_distance(x.what->ranges[at].median, y.what->ranges[at].median));
      }
      candidates.push_back(
          {{x.group, y.group}, static_cast<double>(std::min(x.what->segments, y.what->segments)) / (1.0 + distance)});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    if (x.score != y.score) return x.score > y.score;
    return std::pair(x.pair.a, x.pair.b) < std::pair(y.pair.a, y.pair.b);
  });
  double sum = 0.0;
  std::unordered_set<std::uint32_t> taken_of_a;
  std::unordered_set<std::uint32_t> taken_of_b;
  for (const Candidate& candidate : candidates) {
    if (taken_of_a.count(candidate.pair.a) != 0 || taken_of_b.count(candidate.pair.b) != 0) continue;
    taken_of_a.insert(candidate.pair.a);
    taken_of_b.insert(candidate.pair.b);
    pairs.push_back(candidate.pair);
    sum += candidate.score;
  }
  return sum;
}

// Speeds that a machine may have slowed all work down by, as the largest groups that may be the same suggest: 1, if
// none.
std::vector<double> possible_speeds(const std::vector<std::vector<Described>>& parts) {
  constexpr std::size_t most_speeds = 32;
  constexpr std::size_t compute = index_of(Feature::compute);
  std::vector<std::pair<std::size_t, double>> found;  // segments that suggest it
  for (const std::vector<Described>& part : parts) {
    for (const Described& x : part) {
      for (const Described& y : part) {
        const double of_x = x.what->ranges[compute].median;
        const double of_y = y.what->ranges[compute].median;
        if (!x.of_a || y.of_a || relative_distance(of_x, of_y) > most_growth_of_cpu_time) continue;
        if (of_x > cold_start_nanoseconds)
          found.emplace_back(std::min(x.what->segments, y.what->segments), of_x / of_y);
      }
    }
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<double> speeds{1.0};
  for (std::size_t i = 0; i < std::min(found.size(), most_speeds); ++i) speeds.push_back(found[i].second);
  return speeds;
}

}  // namespace

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
  Signature signature{profile.sites[profile.site.empty() ? 0 : profile.site[segment]]};
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

std::vector<GroupPair> match_groups(std::span<const GroupDescription> a, std::span<const GroupDescription> b,
                                    bool by_cpu_time) {
  std::map<Signature, std::vector<Described>> by_signature;
  for (std::uint32_t i = 0; i < a.size(); ++i) by_signature[a[i].signature].push_back({true, i, &a[i]});
  for (std::uint32_t i = 0; i < b.size(); ++i) by_signature[b[i].signature].push_back({false, i, &b[i]});
  std::vector<std::vector<Described>> alike;
  for (auto& [signature, descriptions] : by_signature) {
    std::vector<std::vector<Described>> parts{std::move(descriptions)};
    for (const FeatureInfo& info : features) {
      if (info.kind == FeatureKind::count || (info.kind == FeatureKind::work && by_cpu_time)) continue;
      std::vector<std::vector<Described>> finer;
      for (std::vector<Described>& part : parts) {
        for (std::vector<Described>& piece : split_by(index_of(info.feature), std::move(part))) {
          finer.push_back(std::move(piece));
        }
      }
      parts = std::move(finer);
    }
    std::move(parts.begin(), parts.end(), std::back_inserter(alike));
  }
  // A slowed machine takes more CPU time for all work. Were each group to look for the nearest by itself, light work of
  // a slow run would be taken for heavy work of a fast one.
  constexpr double noticeably_more = 1.05;
  std::vector<GroupPair> pairs;
  double best = 0.0;
  for (const double speed : by_cpu_time ? possible_speeds(alike) : std::vector<double>{1.0}) {
    std::vector<GroupPair> others;
    double sum = 0.0;
    for (const std::vector<Described>& part : alike) sum += match_alike(part, by_cpu_time, speed, others);
    if (sum <= noticeably_more * best) continue;
    best = sum;
    pairs = std::move(others);
  }
  std::sort(pairs.begin(), pairs.end(), [](const GroupPair& x, const GroupPair& y) { return x.a < y.a; });
  return pairs;
}

std::vector<float> ascending_durations(const Profile& profile, std::span<const std::uint32_t> members) {
  std::vector<float> durations = durations_of(profile, members);
  sort_ascending(durations);
  return durations;
}

}  // namespace halcyon
