#include "analyzer/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace halcyon {
namespace {

constexpr double least_peak_share = 0.1;  // of a cluster's segments, in each of two parts that are cut apart
constexpr double weak_link = 0.1;         // of the lower of both peaks

enum class Compare { exactly, by_relative_distance };

// Splits each part of a partition by one binned column. Works on the pairs (part, bin) that occur, of which there are
// few, and touches each segment once.
void refine(Partition& partition, const std::vector<std::uint16_t>& column, const std::vector<double>& bins,
            Compare compare) {
  if (column.empty()) return;
  struct Pair {
    std::uint32_t part;
    double value;
    std::uint16_t bin;
    std::uint32_t number;  // in order of occurrence
    std::uint64_t segments = 0;
  };
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  std::vector<Pair> pairs;
  std::vector<std::uint32_t> pair_of(partition.of.size());
  std::uint64_t last_key = ~std::uint64_t{0};
  std::uint32_t last_number = 0;
  for (std::size_t segment = 0; segment < partition.of.size(); ++segment) {
    const std::uint64_t key = (static_cast<std::uint64_t>(partition.of[segment]) << 16) | column[segment];
    if (key != last_key) {
      const auto [entry, is_new] = numbers.try_emplace(key, static_cast<std::uint32_t>(pairs.size()));
      if (is_new) {
        const double value = bins.empty() ? 0.0 : bins[column[segment]];
        pairs.push_back(
            {.part = partition.of[segment], .value = value, .bin = column[segment], .number = entry->second});
      }
      last_key = key;
      last_number = entry->second;
    }
    pair_of[segment] = last_number;
  }

  for (const std::uint32_t number : pair_of) ++pairs[number].segments;

  std::sort(pairs.begin(), pairs.end(), [compare](const Pair& a, const Pair& b) {
    if (a.part != b.part) return a.part < b.part;
    if (compare == Compare::by_relative_distance && a.value != b.value) return a.value < b.value;
    return a.bin < b.bin;
  });
  std::vector<std::uint32_t> part_of_pair(pairs.size());
  std::uint32_t count = 0;
  for (std::size_t from = 0, to = 0; from < pairs.size(); from = to) {
    while (to < pairs.size() && pairs[to].part == pairs[from].part) ++to;
    if (compare == Compare::exactly) {
      for (std::size_t i = from; i < to; ++i) part_of_pair[pairs[i].number] = count++;
      continue;
    }
    std::vector<double> ascending;
    std::vector<std::uint64_t> weights;
    for (std::size_t i = from; i < to; ++i) {
      ascending.push_back(pairs[i].value);
      weights.push_back(pairs[i].segments);
    }
    const std::vector<std::uint32_t> clusters =
        cut_weak_links(ascending, weights, cluster_ascending(ascending, relative_distance_threshold));
    for (std::size_t i = from; i < to; ++i) part_of_pair[pairs[i].number] = count + clusters[i - from];
    count += clusters.back() + 1;
  }
  for (std::size_t segment = 0; segment < partition.of.size(); ++segment) {
    partition.of[segment] = part_of_pair[pair_of[segment]];
  }
  partition.count = count;
}

}  // namespace

double relative_distance(double x, double y) {
  if (x == y) return 0.0;
  const double smaller = std::min(x, y);
  return smaller > 0.0 ? std::abs(x - y) / smaller : std::numeric_limits<double>::infinity();
}

std::vector<std::uint32_t> cluster_ascending(const std::vector<double>& ascending, double threshold) {
  std::vector<std::uint32_t> clusters(ascending.size(), 0);
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    const bool far = relative_distance(ascending[i - 1], ascending[i]) >= threshold;
    clusters[i] = clusters[i - 1] + (far ? 1 : 0);
  }
  return clusters;
}

std::vector<std::uint32_t> cut_weak_links(const std::vector<double>& ascending,
                                          const std::vector<std::uint64_t>& weights,
                                          const std::vector<std::uint32_t>& clusters) {
  std::vector<std::uint32_t> result(ascending.size(), 0);
  std::uint32_t count = 0;
  for (std::size_t from = 0, to = 0; from < ascending.size(); from = to) {
    while (to < ascending.size() && clusters[to] == clusters[from]) ++to;
    double all = 0.0;
    for (std::size_t i = from; i < to; ++i) all += static_cast<double>(weights[i]);
    // What lies within the threshold of each value, above and below it.
    std::vector<double> density(to - from, 0.0);
    for (std::size_t i = from, low = from, high = from; i < to; ++i) {
      while (ascending[i] - ascending[low] > 0.5 * relative_distance_threshold * ascending[low]) ++low;
      while (high < to && ascending[high] - ascending[i] <= 0.5 * relative_distance_threshold * ascending[i]) ++high;
      for (std::size_t j = low; j < high; ++j) density[i - from] += static_cast<double>(weights[j]);
    }
    // Cuts at the lowest place between two peaks of which either holds much of the cluster.
    std::size_t peak = 0;
    std::size_t valley = 0;
    result[from] = count;
    for (std::size_t i = 1; i < density.size(); ++i) {
      result[from + i] = count;
      if (density[i] < density[valley]) valley = i;
      const bool is_other_peak = density[i] >= least_peak_share * all && density[peak] >= least_peak_share * all &&
                                 density[valley] <= weak_link * std::min(density[i], density[peak]);
      if (is_other_peak) {
        ++count;
        for (std::size_t j = valley; j <= i; ++j) result[from + j] = count;
        peak = valley = i;
      } else if (density[i] >= density[peak]) {
        peak = valley = i;
      }
    }
    ++count;
  }
  return result;
}

Grouping group_segments(const Profile& profile) {
  Grouping grouping;
  Partition& groups = grouping.groups;
  groups.of.assign(profile.segments, 0);
  groups.count = profile.segments > 0 ? 1 : 0;
  const auto refine_by = [&](FeatureKind kind, Compare compare) {
    for (const FeatureInfo& info : features) {
      const FeatureColumn& column = profile.features[index_of(info.feature)];
      if (info.kind == kind) refine(groups, column.index, column.bins, compare);
    }
  };
  refine_by(FeatureKind::work, Compare::by_relative_distance);
  grouping.clusters = groups.count;
  refine_by(FeatureKind::count, Compare::exactly);
  refine(groups, profile.site, {}, Compare::exactly);
  refine_by(FeatureKind::volume, Compare::by_relative_distance);

  std::vector<std::size_t> sizes(groups.count, 0);
  for (const std::uint32_t group : groups.of) ++sizes[group];
  grouping.members.resize(groups.count);
  for (std::uint32_t group = 0; group < groups.count; ++group) grouping.members[group].reserve(sizes[group]);
  for (std::size_t segment = 0; segment < groups.of.size(); ++segment) {
    grouping.members[groups.of[segment]].push_back(static_cast<std::uint32_t>(segment));
  }
  return grouping;
}

}  // namespace halcyon
