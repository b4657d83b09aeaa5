#include "analyzer/matching/group_match.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <unordered_set>
#include <utility>

#include "analyzer/groups/clusters.hpp"

namespace halcyon {
namespace {

// After a delay, caches are filled again. That costs microseconds, however short the work is.
constexpr double cold_start_nanoseconds = 1e4;

struct Described {
  bool of_a = true;
  std::uint32_t group = 0;
  const GroupDescription* what = nullptr;
};

// Cuts the values of both runs together into clusters, by the rule of cluster_ascending for ranges.
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

// Possible pairs, best first. The score prefers the pair of more segments, unless a nearer one has nearly as many. By
// nearness alone, a few stray segments would take the partner of a large group that a disturbed run has slowed down.
// `speed`: the factor by which all work of a took more CPU time.
std::vector<Candidate> candidates_of(const std::vector<Described>& alike, bool by_cpu_time, double speed) {
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
  return candidates;
}

// Adds the best pairs, with each group in one of them. Returns the sum of their scores.
double match_alike(const std::vector<Described>& alike, bool by_cpu_time, double speed, std::vector<GroupPair>& pairs) {
  double sum = 0.0;
  std::unordered_set<std::uint32_t> taken_of_a;
  std::unordered_set<std::uint32_t> taken_of_b;
  for (const Candidate& candidate : candidates_of(alike, by_cpu_time, speed)) {
    if (taken_of_a.count(candidate.pair.a) != 0 || taken_of_b.count(candidate.pair.b) != 0) continue;
    taken_of_a.insert(candidate.pair.a);
    taken_of_b.insert(candidate.pair.b);
    pairs.push_back(candidate.pair);
    sum += candidate.score;
  }
  return sum;
}

// Factors by which a machine may have slowed down all work, as the largest groups that may be the same suggest them. 1
// is the first.
std::vector<double> possible_speeds(const std::vector<std::vector<Described>>& parts) {
  constexpr std::size_t most_speeds = 32;
  constexpr std::size_t compute = index_of(Feature::compute);
  std::vector<std::pair<std::size_t, double>> found;  // factor, behind the number of segments that suggest it
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

// Groups of both runs that agree in all that is compared, whatever their work by CPU time.
std::vector<std::vector<Described>> alike_groups(std::span<const GroupDescription> a,
                                                 std::span<const GroupDescription> b, bool by_cpu_time) {
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
  return alike;
}

}  // namespace

std::vector<GroupPair> match_groups(std::span<const GroupDescription> a, std::span<const GroupDescription> b,
                                    bool by_cpu_time) {
  const std::vector<std::vector<Described>> alike = alike_groups(a, b, by_cpu_time);
  // A slowed machine takes more CPU time for all work. If each group looked for the nearest by itself, light work of a
  // slow run would be taken for heavy work of a fast one.
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

std::vector<GroupPair> match_groups(const GroupedRun& a, const GroupedRun& b) {
  return match_groups(describe_groups(a.profile, a.grouping), describe_groups(b.profile, b.grouping),
                      measure_work_by_cpu_time(a.profile, b.profile));
}

bool measure_work_by_cpu_time(const Profile& a, const Profile& b) { return a.counter == "cpu" && b.counter == "cpu"; }

bool is_judged(const GroupPair& pair, const Grouping& groups_a, const Grouping& groups_b) {
  return groups_a.members(pair.a).size() >= smallest_judged_group &&
         groups_b.members(pair.b).size() >= smallest_judged_group;
}

}  // namespace halcyon
