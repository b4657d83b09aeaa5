#include "analyzer/groups/grouping.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "analyzer/groups/clusters.hpp"
#include "analyzer/groups/work_model.hpp"
#include "analyzer/statistics/durations.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
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

// The durations of all segments, brought to the same work within each group, so that they can be compared.
Comparable comparable_by_work(const Profile& profile, const Grouping& grouping) {
  Comparable run{.durations = profile.duration, .kind_of = grouping.groups.of, .kinds = grouping.groups.count};
  const FeatureColumn& work = work_of(profile, grouping);
  if (work.index.empty()) return run;
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    const std::span<const std::uint32_t> members = grouping.members(group);
    const std::optional<Durations> factors = work_factors(profile, work, members);
    if (!factors) continue;
    for (std::size_t i = 0; i < members.size(); ++i) {
      run.durations[members[i]] /= static_cast<float>((*factors)[static_cast<Eigen::Index>(i)]);
    }
  }
  return run;
}

// By how much values were larger where the machine seems to be slow, in logarithms.
struct Larger {
  double median = 0.0;     // over kinds, by their time
  double deviation = 0.0;  // mean distance of kinds from it
  double kinds = 0.0;      // their effective number: one by the sum of their squared shares of the time
};

struct KindAtSpeeds {
  std::vector<double> fast, slow;
  double seconds = 0.0;
  double log_factor = 0.0;
};

Larger larger_of(std::vector<KindAtSpeeds> kinds) {
  std::erase_if(kinds, [](const KindAtSpeeds& kind) {
    return std::min(kind.fast.size(), kind.slow.size()) < smallest_judged_group;
  });
  double all = 0.0;
  double squares = 0.0;
  for (KindAtSpeeds& kind : kinds) {
    const double fast = median_in_place(kind.fast);
    const double slow = median_in_place(kind.slow);
    if (fast > 0.0 && slow > 0.0) kind.log_factor = std::log(slow / fast);
    all += kind.seconds;
    squares += kind.seconds * kind.seconds;
  }
  Larger larger;
  if (!(all > 0.0)) return larger;
  larger.kinds = all * all / squares;
  std::ranges::sort(kinds, {}, &KindAtSpeeds::log_factor);
  double before = 0.0;
  for (const KindAtSpeeds& kind : kinds) {
    if (before < 0.5 * all) larger.median = kind.log_factor;
    before += kind.seconds;
  }
  for (const KindAtSpeeds& kind : kinds) {
    larger.deviation += kind.seconds / all * std::abs(kind.log_factor - larger.median);
  }
  return larger;
}

template <class Of>
Larger larger_when_slow(const Comparable& run, const Speeds& speeds, const Of& of) {
  std::vector<KindAtSpeeds> kinds(run.kinds);
  for (std::size_t i = 0; i < run.kind_of.size(); ++i) {
    KindAtSpeeds& kind = kinds[run.kind_of[i]];
    (speeds.slowness[i] > 1.0F ? kind.slow : kind.fast).push_back(of(i));
    kind.seconds += static_cast<double>(run.durations[i]);
  }
  return larger_of(std::move(kinds));
}

// Work that followed the speed, at full speed: each value is divided by this power of the slowness.
FeatureColumn at_full_speed(const FeatureColumn& work, const Speeds& speeds, double power) {
  return column_of(speeds.slowness.size(), work.reduced, [&](std::size_t i) {
    return work.bins[work.bin_of(i)] / std::pow(static_cast<double>(speeds.slowness[i]), power);
  });
}

// Share of the speed's factor, in logarithms. Where CPU time was longer by more, it follows the speed.
constexpr double follows = 0.5;
constexpr double fewest_kinds = 1.5;  // that tell whether it is the machine

}  // namespace

std::vector<float> durations_of(const Profile& profile, std::span<const std::uint32_t> members) {
  std::vector<float> durations;
  durations.reserve(members.size());
  for (const std::uint32_t segment : members) durations.push_back(profile.duration[segment]);
  return durations;
}

std::vector<float> ascending_durations(const Profile& profile, std::span<const std::uint32_t> members) {
  std::vector<float> durations = durations_of(profile, members);
  sort_ascending(durations);
  return durations;
}

std::vector<std::span<const std::uint32_t>> Grouping::all_members() const {
  std::vector<std::span<const std::uint32_t>> members_of;
  for (std::uint32_t group = 0; group < groups.count; ++group) members_of.push_back(members(group));
  return members_of;
}

double GroupedRun::seconds_of(std::uint32_t group) const {
  double seconds = 0.0;
  for (const std::uint32_t segment : grouping.members(group)) seconds += static_cast<double>(profile.duration[segment]);
  return seconds;
}

const FeatureColumn& work_of(const Profile& profile, const Grouping& grouping) {
  return grouping.work.bins.empty() ? profile.features[index_of(Feature::compute)] : grouping.work;
}

Grouping group_by_signature(const Profile& profile) { return group_by(profile, nullptr); }

Grouping group_segments(const Profile& profile) {
  const Grouping by_signature = group_by_signature(profile);
  const FeatureColumn& counted = explaining_work(profile, by_signature.all_members());
  const std::optional<FeatureColumn> with_devices = work_with_devices(profile, counted);
  const FeatureColumn& work = with_devices ? *with_devices : counted;
  Grouping grouping = group_by(profile, &work);
  grouping.work_has_devices = with_devices.has_value();
  if (with_devices || &work == &profile.largest_work) grouping.work = work;
  const auto larger_durations = [](const Comparable& run, const Speeds& speeds) {
    return larger_when_slow(run, speeds, [&run](std::size_t i) { return static_cast<double>(run.durations[i]); });
  };
  // A slow machine makes all kinds of work slower by about the same factor, other work of the program does not.
  const auto is_of_all_kinds = [](const Larger& duration) {
    return duration.deviation <= relative_distance_threshold * std::abs(duration.median);
  };
  if (profile.counter != "cpu" || work.index.empty()) {
    const Comparable run = comparable_by_work(profile, grouping);
    std::optional<Speeds> speeds = find_speeds(run);
    if (!speeds || !is_of_all_kinds(larger_durations(run, *speeds))) return grouping;
    const bool is_same_work = profile.counter != "cpu" && !work_of(profile, grouping).index.empty();
    if (is_same_work || speeds->pattern != SpeedPattern::wanders) grouping.speeds = std::move(speeds);
    return grouping;
  }
  // The same signature may be other work, or the same at another speed: the order of time tells.
  const Comparable run{
      .durations = profile.duration, .kind_of = by_signature.groups.of, .kinds = by_signature.groups.count};
  std::optional<Speeds> speeds = find_speeds(run);
  if (!speeds) return grouping;
  const Larger duration = larger_durations(run, *speeds);
  if (!is_of_all_kinds(duration)) return grouping;
  const Larger cpu_time = larger_when_slow(run, *speeds, [&work](std::size_t i) { return work.bins[work.bin_of(i)]; });
  const bool follows_speed = cpu_time.median > follows * duration.median;
  if (!follows_speed && speeds->pattern == SpeedPattern::wanders) return grouping;
  const bool is_one_kind = duration.kinds < fewest_kinds;
  if (follows_speed && (is_one_kind || speeds->pattern != SpeedPattern::switches)) {
    grouping.speeds_may_be_work = true;
  } else if (follows_speed) {
    FeatureColumn corrected = at_full_speed(work, *speeds, cpu_time.median / duration.median);
    grouping = group_by(profile, &corrected);
    grouping.work = std::move(corrected);
    grouping.work_has_devices = with_devices.has_value();
  }
  grouping.speeds = std::move(speeds);
  return grouping;
}

}  // namespace halcyon
