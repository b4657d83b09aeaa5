#include "analyzer/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/matching/group_description.hpp"
#include "analyzer/matching/group_match.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {
namespace {

double half_width(const Interval& interval) { return 0.5 * (interval.high - interval.low); }

double percent_of(double part, double whole) { return whole > 0.0 ? std::min(100.0, 100.0 * part / whole) : 0.0; }

/// The groups of a run that have a partner in the other run.
struct Matched {
  std::vector<bool> groups;  // (groups)
  double seconds = 0.0;      // in them
};

Matched matched_groups(const GroupedRun& run, const std::vector<GroupPair>& pairs, std::uint32_t GroupPair::*side) {
  Matched matched{.groups = std::vector<bool>(run.grouping.groups.count, false)};
  for (const GroupPair& pair : pairs) {
    matched.groups[pair.*side] = true;
    matched.seconds += run.seconds_of(pair.*side);
  }
  return matched;
}

// Sets what share of either run lies in matched groups. Returns the difference, where it is too little.
std::optional<Difference> too_little_matched(Comparison& comparison, const GroupedRun& a, const GroupedRun& b,
                                             const std::vector<GroupPair>& pairs) {
  const Matched matched_a = matched_groups(a, pairs, &GroupPair::a);
  const Matched matched_b = matched_groups(b, pairs, &GroupPair::b);
  comparison.a.matched_percent = percent_of(matched_a.seconds, a.profile.run_time_seconds);
  comparison.b.matched_percent = percent_of(matched_b.seconds, b.profile.run_time_seconds);
  if (comparison.a.matched_percent < least_coverage_percent) return differing_work(a, matched_a.groups, b);
  if (comparison.b.matched_percent >= least_coverage_percent) return std::nullopt;
  Difference difference = differing_work(b, matched_b.groups, a);
  std::swap(difference.in_a, difference.in_b);
  return difference;
}

// Returns half the width of the interval of all displacements, in s.
double add_displacements(Comparison& comparison, const JudgedRun& a, const JudgedRun& b,
                         const std::vector<GroupPair>& pairs) {
  double half_width_of_medians = 0.0;
  for (const GroupPair& pair : pairs) {
    if (!is_judged(pair, a.grouping, b.grouping)) continue;
    const MatchedGroup& group = comparison.groups.emplace_back(matched_group(a, b, pair));
    comparison.displacement_seconds += group.displacement_seconds;
    comparison.a.baseline_rise_seconds += static_cast<double>(group.a.segments) * (group.a.baseline - group.b.baseline);
    comparison.b.baseline_rise_seconds += static_cast<double>(group.b.segments) * (group.b.baseline - group.a.baseline);
    half_width_of_medians = std::hypot(half_width_of_medians, half_width(group.displacement_interval_seconds));
  }
  std::stable_sort(comparison.groups.begin(), comparison.groups.end(),
                   [](const MatchedGroup& x, const MatchedGroup& y) {
                     return std::abs(x.displacement_seconds) > std::abs(y.displacement_seconds);
                   });
  comparison.displacement_interval_seconds = interval_around(comparison.displacement_seconds, half_width_of_medians);
  return half_width_of_medians;
}

// How far the interval of a run's excess reaches down and up, in s: further to one side than to the other.
Interval reach_of_excess(const Analysis& analysis) {
  const auto& [low, high] = analysis.result().interval_percent;
  const double middle = analysis.result().interference_percent;
  const double seconds_of_a_percent = analysis.run_time_seconds / 100.0;
  return Interval{(middle - low) * seconds_of_a_percent, (high - middle) * seconds_of_a_percent};
}

void add_more_disturbed(Comparison& comparison, double half_width_of_medians) {
  comparison.more_disturbed_seconds = comparison.a.disturbed_seconds() - comparison.b.disturbed_seconds();
  const Interval in_a = reach_of_excess(comparison.a.analysis);
  const Interval in_b = reach_of_excess(comparison.b.analysis);
  comparison.more_disturbed_interval_seconds = {
      comparison.more_disturbed_seconds - std::hypot(half_width_of_medians, in_a.low, in_b.high),
      comparison.more_disturbed_seconds + std::hypot(half_width_of_medians, in_a.high, in_b.low)};
}

}  // namespace

Comparison compare(const Profile& a, const Profile& b) { return compare(judge(a), judge(b)); }

Comparison compare(const JudgedRun& run_a, const JudgedRun& run_b) {
  const GroupedRun a = run_a.grouped();
  const GroupedRun b = run_b.grouped();
  Comparison comparison;
  comparison.a.analysis = run_a.analysis;
  comparison.b.analysis = run_b.analysis;
  comparison.difference = differing_circumstances(a.profile, b.profile);
  if (comparison.difference) return comparison;

  const std::vector<GroupDescription> described_a = describe_groups(a.profile, a.grouping);
  const std::vector<GroupDescription> described_b = describe_groups(b.profile, b.grouping);
  const auto shared = static_cast<double>(shared_segments(described_a, described_b));
  comparison.a.shared_percent = percent_of(shared, static_cast<double>(a.profile.segments));
  comparison.b.shared_percent = percent_of(shared, static_cast<double>(b.profile.segments));
  if (std::min(comparison.a.shared_percent, comparison.b.shared_percent) < least_shared_percent) {
    comparison.difference = differing_calls(a, b);
    return comparison;
  }
  const std::vector<GroupPair> pairs =
      match_groups(described_a, described_b, measure_work_by_cpu_time(a.profile, b.profile));
  comparison.difference = too_little_matched(comparison, a, b, pairs);
  if (comparison.difference) return comparison;

  const double half_width_of_medians = add_displacements(comparison, run_a, run_b, pairs);
  add_more_disturbed(comparison, half_width_of_medians);
  return comparison;
}

const ComparedRun* Comparison::more_disturbed() const {
  if (difference || !a.analysis.is_comparable() || !b.analysis.is_comparable()) return nullptr;
  if (!excludes_zero(more_disturbed_interval_seconds)) return nullptr;
  return more_disturbed_seconds > 0.0 ? &a : &b;
}

}  // namespace halcyon
