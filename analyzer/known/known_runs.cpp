#include "analyzer/known/known_runs.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzer/groups/timeline.hpp"
#include "analyzer/statistics/interval.hpp"
#include "analyzer/statistics/median.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

// A group that has far fewer segments in one of two runs may be the faster part of what the other has as one group.
constexpr double least_share_of_segments = 0.8;
// By more than that, medians of undisturbed runs of the same work on the same host hardly differ: what they do beyond
// is disturbance.
constexpr double most_scatter_of_medians = 0.02;
constexpr double most_scatter_of_parts = 0.1;
constexpr double most_seconds = 1e12;  // beyond lies no run: a record is not to be trusted

// Of k draws from the normal distribution: how far the least is below the mean on average, and below the second least,
// in standard deviations. By W. F. Blom's approximation of the mean of order statistics ("Statistical Estimates and
// Transformed Beta-Variables", 1958): quantile of (i - 3/8) / (k + 1/4).
double expected_order_statistic(double i, double k) { return normal_quantile((i - 0.375) / (k + 0.25)); }

/// The judged groups of a run.
struct JudgedOnes {
  std::vector<std::uint32_t> groups;
  std::vector<GroupDescription> descriptions;
};

JudgedOnes judged_groups(const Profile& profile, const Grouping& grouping) {
  JudgedOnes judged;
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    const auto members = grouping.members(group);
    if (members.size() < smallest_judged_group) continue;
    judged.groups.push_back(group);
    judged.descriptions.push_back(describe_group(profile, members));
  }
  return judged;
}

std::vector<GroupDescription> descriptions_of(const KnownWork& known) {
  std::vector<GroupDescription> descriptions;
  for (const KnownGroup& group : known.groups) descriptions.push_back(group.description);
  return descriptions;
}

/// Groups that did the same work, and as much of it.
struct KnownPair {
  std::size_t judged = 0;  // place in JudgedOnes
  std::size_t known = 0;
};

std::vector<KnownPair> pairs_of(const JudgedOnes& judged, const std::vector<GroupDescription>& known,
                                bool by_cpu_time) {
  std::vector<KnownPair> pairs;
  for (const GroupPair& pair : match_groups(judged.descriptions, known, by_cpu_time)) {
    const auto [fewer, more] = std::minmax(judged.descriptions[pair.a].segments, known[pair.b].segments);
    if (static_cast<double>(fewer) < least_share_of_segments * static_cast<double>(more)) continue;
    pairs.push_back({pair.a, pair.b});
  }
  return pairs;
}

// Of a segment, on average over those that are judged: work and volumes.
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

// Whatever the groups: the same volumes, and work that is alike or, as CPU time, up to twice as much.
bool is_as_much_work(const std::vector<GroupDescription>& a, const std::vector<GroupDescription>& b, bool by_cpu_time) {
  const std::array<double, feature_count> of_a = mean_features(a);
  const std::array<double, feature_count> of_b = mean_features(b);
  return std::all_of(features.begin(), features.end(), [&](const FeatureInfo& info) {
    const std::size_t at = index_of(info.feature);
    const bool may_grow = info.feature == Feature::compute && by_cpu_time;
    return relative_distance(of_a[at], of_b[at]) < (may_grow ? most_growth_of_cpu_time : relative_distance_threshold);
  });
}

bool is_by_cpu_time(const Profile& profile) { return profile.counter == "cpu"; }

// Of one of the known runs, as a group that only some of them had counts by its share of the runs.
double segments_of(const KnownWork& known) {
  double segments = 0.0;
  for (const KnownGroup& group : known.groups) {
    segments += static_cast<double>(group.description.segments) * static_cast<double>(group.runs);
  }
  return segments / static_cast<double>(known.runs);
}

double segments_of(const JudgedOnes& judged) {
  double segments = 0.0;
  for (const GroupDescription& group : judged.descriptions) segments += static_cast<double>(group.segments);
  return segments;
}

struct Median {
  double seconds = 0.0;
  double error = 0.0;
};

Median median_of(const Profile& profile, const Grouping& grouping, std::uint32_t group) {
  const std::vector<float> durations = ascending_durations(profile, grouping.members(group));
  return {median_of_ascending(durations), error_of_median(durations)};
}

// How much too low the best of the medians is expected to be, as far as they scatter without being disturbed.
double selection_effect(const KnownGroup& group) {
  if (group.runs < 2) return 0.0;
  const auto k = static_cast<double>(group.runs);
  const double least = expected_order_statistic(1.0, k);
  double scatter = group.best_error;
  if (group.second_median) {
    const double gap = (*group.second_median - group.best_median) / (expected_order_statistic(2.0, k) - least);
    scatter = std::hypot(scatter, std::min(gap, most_scatter_of_medians * group.best_median));
  }
  return -least * scatter;
}

KnownGroup known_group(const Profile& profile, const Grouping& grouping, std::uint32_t group,
                       const GroupDescription& description) {
  const Median median = median_of(profile, grouping, group);
  return {.description = description, .best_median = median.seconds, .best_error = median.error, .runs = 1};
}

std::vector<double> seconds_of_parts(const Profile& profile) {
  // As the records of earlier versions have it.
  const PartsByCount parts{.segments = profile.segments, .count = known_part_count, .edge = PartsByCount::Edge::after};
  std::vector<double> seconds(known_part_count, 0.0);
  for (std::size_t segment = 0; segment < profile.segments; ++segment) {
    seconds[parts.of(segment)] += static_cast<double>(profile.duration[segment]);
  }
  return seconds;
}

std::optional<KnownParts> parts_of(const Profile& profile) {
  if (profile.segments < known_part_count) return std::nullopt;
  KnownParts known{.segments = profile.segments, .runs = 1};
  for (const double seconds : seconds_of_parts(profile)) known.parts.push_back({seconds, seconds});
  return known;
}

// `seconds`: of the run's parts.
void add_run(KnownParts& known, const std::vector<double>& seconds) {
  for (std::size_t i = 0; i < known_part_count; ++i) {
    KnownPart& part = known.parts[i];
    if (seconds[i] < part.best) {
      part = {seconds[i], part.best};
    } else if (known.runs == 1 || seconds[i] < part.second) {
      part.second = seconds[i];
    }
  }
  ++known.runs;
}

// By how much parts of undisturbed runs vary by chance, as a share of their time. Two estimates, which disturbance can
// only raise: the gap between the best and the second best time of a part, and what this run's parts differ by from the
// best of the other runs, from one part to the next.
double scatter_of_parts(const KnownParts& others, const KnownParts& all, const std::vector<double>& seconds) {
  const auto k = static_cast<double>(all.runs);
  const double expected_gap = expected_order_statistic(2.0, k) - expected_order_statistic(1.0, k);
  std::vector<double> gaps;
  std::vector<double> changes;
  std::optional<double> before;
  for (std::size_t i = 0; i < known_part_count; ++i) {
    if (!(all.parts[i].best > 0.0)) continue;
    gaps.push_back((all.parts[i].second - all.parts[i].best) / all.parts[i].best / expected_gap);
    const double beyond = std::log(seconds[i] / others.parts[i].best);
    if (before) changes.push_back(std::abs(beyond - *before));
    before = beyond;
  }
  if (gaps.empty() || changes.empty()) return 0.0;
  // Of normal values of the deviation 1, the median of |x - y| is 0.954.
  constexpr double median_change = 0.954;
  return std::min(median_in_place(gaps), median_in_place(changes) / median_change);
}

std::optional<KnownRuns::OfParts> beyond_parts(const Profile& profile, const std::optional<KnownParts>& known) {
  if (!known || known->segments != profile.segments) return std::nullopt;
  const std::vector<double> seconds = seconds_of_parts(profile);
  KnownParts all = *known;
  add_run(all, seconds);
  double beyond = 0.0;
  double best = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < known_part_count; ++i) {
    beyond += seconds[i] - all.parts[i].best;
    best += all.parts[i].best;
    squares += all.parts[i].best * all.parts[i].best;
  }
  const double scatter = scatter_of_parts(*known, all, seconds);
  const auto by_chance = [&](double deviation) {
    return -expected_order_statistic(1.0, static_cast<double>(all.runs)) * deviation * best;
  };
  const auto half_width = [&](double deviation) {
    return by_chance(deviation) + normal_quantile_of_interval() * deviation * std::sqrt(squares);
  };
  // Parts that scatter more were disturbed, or are of a program that varies: the lower end allows for the latter.
  const double usual_scatter = std::min(scatter, most_scatter_of_parts);
  const double likely = beyond - by_chance(usual_scatter);
  return KnownRuns::OfParts{known->runs, likely, beyond - by_chance(scatter) - half_width(scatter),
                            likely + half_width(usual_scatter)};
}

void keep_the_largest(std::vector<KnownGroup>& groups) {
  std::stable_sort(groups.begin(), groups.end(), [](const KnownGroup& x, const KnownGroup& y) {
    return x.description.segments > y.description.segments;
  });
  if (groups.size() > most_known_groups) groups.resize(most_known_groups);
}

}  // namespace

Circumstances circumstances_of(const Profile& profile) {
  const std::set<std::string> models(profile.rank_cpu.begin(), profile.rank_cpu.end());
  std::string cpus;
  for (const std::string& model : models) cpus += (cpus.empty() ? "" : ", ") + model;
  return {profile.command, profile.ranks, profile.hosts().size(), cpus, profile.mpi, profile.counter};
}

bool is_learnt_from(const Profile& profile, bool has_medians) {
  return has_medians && profile.exit_state == "finalized" && profile.composed_of.empty() && profile.inject.empty() &&
         !profile.rank_cpu.empty();
}

std::optional<KnownRuns> displacement_from(const Profile& profile, const Grouping& grouping, const KnownWork& known) {
  if (known.runs == 0 || profile.counter != known.circumstances.counter) return std::nullopt;
  const JudgedOnes judged = judged_groups(profile, grouping);
  const std::vector<GroupDescription> of_known = descriptions_of(known);
  const auto shared = static_cast<double>(shared_segments(judged.descriptions, of_known));
  const double most_segments = std::max(segments_of(judged), segments_of(known));
  if (shared == 0.0 || 100.0 * shared < least_shared_percent * most_segments) return std::nullopt;

  KnownRuns result{.runs = known.runs};
  double error = 0.0;
  double selection = 0.0;
  for (const KnownPair& pair : pairs_of(judged, of_known, is_by_cpu_time(profile))) {
    const std::uint32_t group = judged.groups[pair.judged];
    const KnownGroup& best = known.groups[pair.known];
    const Median median = median_of(profile, grouping, group);
    const auto members = grouping.members(group);
    const auto n = static_cast<double>(members.size());
    result.displacement_seconds += n * (median.seconds - best.best_median);
    error = std::hypot(error, n * std::hypot(median.error, best.best_error));
    // The same runs are the best for all groups, mostly: what chance did for one it did for others.
    selection += n * selection_effect(best);
    for (const std::uint32_t segment : members) {
      result.matched_seconds += static_cast<double>(profile.duration[segment]);
    }
  }
  const double half_width = normal_quantile_of_interval() * error;
  result.low_seconds = result.displacement_seconds - half_width - selection;
  result.high_seconds = result.displacement_seconds + half_width;
  if (is_as_much_work(judged.descriptions, of_known, is_by_cpu_time(profile))) {
    result.of_parts = beyond_parts(profile, known.parts);
  }
  // Where CPU time follows a disturbance, groups are cut otherwise; parts are not.
  const bool is_possible = std::abs(result.low_seconds) < most_seconds && std::abs(result.high_seconds) < most_seconds;
  return is_possible && (knows_groups(result, profile) || result.of_parts) ? std::optional(result) : std::nullopt;
}

bool knows_groups(const KnownRuns& known, const Profile& profile) {
  return 100.0 * known.matched_seconds >= least_coverage_percent * profile.run_time_seconds;
}

bool is_same_work(const KnownWork& a, const KnownWork& b) {
  const auto shared = static_cast<double>(shared_segments(descriptions_of(a), descriptions_of(b)));
  return a.circumstances == b.circumstances &&
         100.0 * shared >= least_shared_percent * std::max(segments_of(a), segments_of(b));
}

KnownWork known_by(const Profile& profile, const Grouping& grouping) {
  KnownWork known{.circumstances = circumstances_of(profile), .runs = 1, .parts = parts_of(profile)};
  const JudgedOnes judged = judged_groups(profile, grouping);
  for (std::size_t i = 0; i < judged.groups.size(); ++i) {
    known.groups.push_back(known_group(profile, grouping, judged.groups[i], judged.descriptions[i]));
  }
  keep_the_largest(known.groups);
  return known;
}

KnownWork with_run(KnownWork known, const Profile& profile, const Grouping& grouping) {
  const JudgedOnes judged = judged_groups(profile, grouping);
  std::set<Signature> signatures;
  for (const KnownGroup& group : known.groups) signatures.insert(group.description.signature);
  const std::vector<GroupDescription> of_known = descriptions_of(known);
  const bool has_parts_of_same_work = is_as_much_work(judged.descriptions, of_known, is_by_cpu_time(profile));
  for (const KnownPair& pair : pairs_of(judged, of_known, is_by_cpu_time(profile))) {
    KnownGroup& group = known.groups[pair.known];
    KnownGroup now = known_group(profile, grouping, judged.groups[pair.judged], judged.descriptions[pair.judged]);
    ++group.runs;
    if (now.best_median < group.best_median) {
      now.second_median = group.best_median;
      now.runs = group.runs;
      group = std::move(now);
    } else if (!group.second_median || now.best_median < *group.second_median) {
      group.second_median = now.best_median;
    }
  }
  for (std::size_t i = 0; i < judged.groups.size(); ++i) {
    // Another cluster of calls that are known is how this run's work was cut, not work of its own.
    if (signatures.count(judged.descriptions[i].signature) == 0) {
      known.groups.push_back(known_group(profile, grouping, judged.groups[i], judged.descriptions[i]));
    }
  }
  ++known.runs;
  if (known.parts && known.parts->segments == profile.segments) {
    if (has_parts_of_same_work) add_run(*known.parts, seconds_of_parts(profile));
  } else if (!known.parts || known.parts->runs == 1) {
    known.parts = parts_of(profile);  // of the later run: the work may have changed since
  }
  keep_the_largest(known.groups);
  return known;
}

}  // namespace halcyon
