#include "analyzer/groups/grouping.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "analyzer/statistics/sorting.hpp"
#include "analyzer/groups/work_model.hpp"
#include "analyzer/statistics/durations.hpp"

namespace halcyon {
namespace {

constexpr double least_peak_share = 0.1;  // of a cluster's segments, in each of two parts that are cut apart
constexpr double weak_link = 0.1;         // of the lower of both peaks

enum class Compare { exactly, by_relative_distance };

using Bins = std::vector<std::uint16_t>;  // (segments)

// Numbers pairs of a number and a bin in order of occurrence. A hash table that is as dense as this, since every
// segment asks once for each of its features.
class PairNumbers {
 public:
  std::uint32_t number(std::uint32_t part, std::uint16_t bin) {
    const std::uint64_t key = (static_cast<std::uint64_t>(part) << 16) | bin;
    Entry& entry = find(key);
    if (entry.key == key) return entry.number;
    const std::uint32_t number = count_++;
    entry = {key, number};
    if (2 * static_cast<std::size_t>(count_) > entries_.size()) grow();
    return number;
  }
  std::uint32_t count() const { return count_; }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t key = none;
    std::uint32_t number = 0;
  };

  // The key's place, or the free one where it belongs.
  Entry& find(std::uint64_t key) {
    // Multiplicative hashing (D. E. Knuth, The Art of Computer Programming 3, section 6.4): the upper bits are mixed.
    std::size_t at = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> shift_);
    while (entries_[at].key != key && entries_[at].key != none) at = (at + 1) & (entries_.size() - 1);
    return entries_[at];
  }
  void grow() {
    const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    --shift_;
    for (const Entry& entry : old) {
      if (entry.key != none) find(entry.key) = entry;
    }
  }

  std::vector<Entry> entries_ = std::vector<Entry>(64);
  int shift_ = 64 - 6;
  std::uint32_t count_ = 0;
};

/// The segments that agree in all bins are one row: few, however many segments there are, and all that is compared.
struct Rows {
  std::vector<std::uint32_t> of;        // (segments)
  std::vector<std::uint32_t> first;     // (rows) the first segment of each
  std::vector<std::uint64_t> segments;  // (rows) how many
};

Rows rows_of(std::uint64_t segments, const std::vector<const Bins*>& columns) {
  // Segments whose numbers stay in the cache while they are numbered by one column after the other.
  constexpr std::size_t block = 4096;
  Rows rows{.of = std::vector<std::uint32_t>(segments, 0)};
  std::vector<PairNumbers> numbers(columns.size());
  for (std::size_t from = 0; from < segments; from += block) {
    const std::size_t to = std::min<std::size_t>(segments, from + block);
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const Bins& bins = *columns[column];
      for (std::size_t segment = from; segment < to; ++segment) {
        rows.of[segment] = numbers[column].number(rows.of[segment], bins[segment]);
      }
    }
    for (std::size_t segment = from; segment < to; ++segment) {
      if (rows.of[segment] == rows.first.size()) {
        rows.first.push_back(static_cast<std::uint32_t>(segment));
        rows.segments.push_back(0);
      }
      ++rows.segments[rows.of[segment]];
    }
  }
  return rows;
}

// Splits each part of a partition of rows by one binned column.
void refine(Partition& partition, const Rows& rows, const Bins& column, const std::vector<double>& bins,
            Compare compare) {
  if (column.empty()) return;
  struct Pair {
    std::uint32_t part;
    double value;
    std::uint16_t bin;
    std::uint32_t number;  // in order of occurrence
    std::uint64_t segments = 0;
  };
  PairNumbers numbers;
  std::vector<Pair> pairs;
  std::vector<std::uint32_t> pair_of(partition.of.size());
  for (std::size_t row = 0; row < partition.of.size(); ++row) {
    const std::uint16_t bin = column[rows.first[row]];
    const std::uint32_t number = numbers.number(partition.of[row], bin);
    if (number == pairs.size()) {
      pairs.push_back(
          {.part = partition.of[row], .value = bins.empty() ? 0.0 : bins[bin], .bin = bin, .number = number});
    }
    pairs[number].segments += rows.segments[row];
    pair_of[row] = number;
  }

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
  for (std::size_t row = 0; row < partition.of.size(); ++row) partition.of[row] = part_of_pair[pair_of[row]];
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
    std::uint64_t within = 0;
    for (std::size_t i = from, low = from, high = from; i < to; ++i) {
      while (high < to && ascending[high] - ascending[i] <= 0.5 * relative_distance_threshold * ascending[i]) {
        within += weights[high++];
      }
      while (ascending[i] - ascending[low] > 0.5 * relative_distance_threshold * ascending[low]) {
        within -= weights[low++];
      }
      density[i - from] = static_cast<double>(within);
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

namespace {

// Groups by signature and, unless it is null, by work.
Grouping group_by(const Profile& profile, const FeatureColumn* work) {
  std::vector<const Bins*> columns;
  const auto column_of = [&](const FeatureInfo& info) {
    return info.kind == FeatureKind::work ? work : &profile.features[index_of(info.feature)];
  };
  for (const FeatureInfo& info : features) {
    const FeatureColumn* column = column_of(info);
    if (column != nullptr && !column->index.empty()) columns.push_back(&column->index);
  }
  if (!profile.site.empty()) columns.push_back(&profile.site);
  Rows rows = rows_of(profile.segments, columns);

  Partition partition{.of = std::vector<std::uint32_t>(rows.first.size(), 0), .count = rows.first.empty() ? 0U : 1U};
  const auto refine_by = [&](FeatureKind kind, Compare compare) {
    for (const FeatureInfo& info : features) {
      const FeatureColumn* column = column_of(info);
      if (info.kind == kind && column != nullptr) refine(partition, rows, column->index, column->bins, compare);
    }
  };
  Grouping grouping;
  refine_by(FeatureKind::work, Compare::by_relative_distance);
  grouping.clusters = partition.count;
  const std::vector<std::uint32_t> cluster_of_row = partition.of;
  refine_by(FeatureKind::count, Compare::exactly);
  refine(partition, rows, profile.site, {}, Compare::exactly);
  refine_by(FeatureKind::volume, Compare::by_relative_distance);

  Partition& groups = grouping.groups;
  groups = {.of = std::move(rows.of), .count = partition.count};
  grouping.begin.assign(groups.count + 1, 0);
  grouping.cluster_of.resize(groups.count);
  for (std::size_t row = 0; row < partition.of.size(); ++row) {
    grouping.cluster_of[partition.of[row]] = cluster_of_row[row];
    grouping.begin[partition.of[row] + 1] += rows.segments[row];
  }
  std::partial_sum(grouping.begin.begin(), grouping.begin.end(), grouping.begin.begin());
  std::vector<std::size_t> end(grouping.begin.begin(), grouping.begin.end() - 1);  // of what is filled
  grouping.by_group.resize(profile.segments);
  for (std::size_t segment = 0; segment < groups.of.size(); ++segment) {
    std::uint32_t& group = groups.of[segment];
    group = partition.of[group];
    grouping.by_group[end[group]++] = static_cast<std::uint32_t>(segment);
  }
  return grouping;
}

// The durations of all segments; those of the same group, and of the same work in it, can be compared.
Comparable comparable_by_work(const Profile& profile, const Grouping& grouping) {
  Comparable run{.durations = profile.duration,
                 .kind_of = grouping.groups.of,
                 .kinds = grouping.groups.count,
                 .is_same_work = profile.counter != "cpu" && !work_of(profile, grouping).index.empty()};
  const FeatureColumn& work = work_of(profile, grouping);
  if (work.index.empty()) return run;
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    const std::span<const std::uint32_t> members = grouping.members(group);
    Durations durations(static_cast<Eigen::Index>(members.size()));
    Durations amounts(durations.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      durations[static_cast<Eigen::Index>(i)] = static_cast<double>(profile.duration[members[i]]);
      amounts[static_cast<Eigen::Index>(i)] = work.bins[work.index[members[i]]];
    }
    const std::optional<Durations> factors = work_factors(durations, amounts);
    if (!factors) continue;
    for (std::size_t i = 0; i < members.size(); ++i) {
      run.durations[members[i]] /= static_cast<float>((*factors)[static_cast<Eigen::Index>(i)]);
    }
  }
  return run;
}

// By what factor CPU time was longer where the machine was slow: the median over kinds.
double slower_cpu_time(const FeatureColumn& work, const Comparable& run, const Speeds& speeds) {
  std::vector<std::array<std::vector<double>, 2>> times(run.kinds);
  for (std::size_t i = 0; i < run.kind_of.size(); ++i) {
    times[run.kind_of[i]][speeds.slowness[i] > 1.0F ? 1 : 0].push_back(work.bins[work.bin_of(i)]);
  }
  std::vector<double> factors;
  for (auto& [fast, slow] : times) {
    if (fast.size() < smallest_judged_group || slow.size() < smallest_judged_group) continue;
    const double at_full_speed = median_in_place(fast);
    if (at_full_speed > 0.0) factors.push_back(median_in_place(slow) / at_full_speed);
  }
  return factors.empty() ? 1.0 : median_in_place(factors);
}

FeatureColumn at_full_speed(const FeatureColumn& work, const Speeds& speeds, double factor) {
  FeatureColumn result{.bins = work.bins, .reduced = work.reduced};
  for (const double value : work.bins) result.bins.push_back(value / factor);
  result.index.resize(speeds.slowness.size());
  for (std::size_t i = 0; i < speeds.slowness.size(); ++i) {
    const std::size_t of_slow = speeds.slowness[i] > 1.0F ? work.bins.size() : 0;
    result.index[i] = static_cast<std::uint16_t>(work.bin_of(i) + of_slow);
  }
  return result;
}

// Another core or clock rate makes work slower by so much; more is other work.
constexpr double most_slower = 2.2;
// Of the speed's factor, in logarithms: CPU time follows it, or does not.
constexpr double follows = 0.5;

}  // namespace

std::vector<float> durations_of(const Profile& profile, std::span<const std::uint32_t> members) {
  std::vector<float> durations;
  durations.reserve(members.size());
  for (const std::uint32_t segment : members) durations.push_back(profile.duration[segment]);
  return durations;
}

const FeatureColumn& work_of(const Profile& profile, const Grouping& grouping) {
  return grouping.work.bins.empty() ? profile.features[index_of(Feature::compute)] : grouping.work;
}

Grouping group_segments(const Profile& profile) {
  const FeatureColumn& work = profile.features[index_of(Feature::compute)];
  Grouping grouping = group_by(profile, &work);
  if (profile.counter != "cpu" || work.index.empty()) {
    grouping.speeds = find_speeds(comparable_by_work(profile, grouping), most_slower);
    return grouping;
  }
  // The same signature may be other work, or the same at another speed: the order of time tells.
  const Grouping by_signature = group_by(profile, nullptr);
  const Comparable run{
      .durations = profile.duration, .kind_of = by_signature.groups.of, .kinds = by_signature.groups.count};
  std::optional<Speeds> speeds = find_speeds(run, most_slower);
  if (!speeds) return grouping;
  const double slower = slower_cpu_time(work, run, *speeds);
  const bool follows_speed = std::log(slower) > follows * std::log(speeds->factor);
  if (follows_speed && speeds->pattern == SpeedPattern::changes_once) {
    for (std::size_t i = 0; i < profile.duration.size(); ++i) {
      grouping.perhaps_slow_seconds +=
          static_cast<double>(profile.duration[i]) * (1.0 - 1.0 / static_cast<double>(speeds->slowness[i]));
    }
    return grouping;
  }
  if (follows_speed) {
    FeatureColumn corrected = at_full_speed(work, *speeds, slower);
    grouping = group_by(profile, &corrected);
    grouping.work = std::move(corrected);
  }
  grouping.speeds = std::move(speeds);
  return grouping;
}

}  // namespace halcyon
