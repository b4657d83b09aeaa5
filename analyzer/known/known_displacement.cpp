#include "analyzer/known/known_displacement.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/matching/group_match.hpp"
#include "analyzer/known/judged_groups.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {
namespace {

// Medians of undisturbed runs of the same work on the same host hardly differ by more. Beyond, one was disturbed.
constexpr double most_scatter_of_medians = 0.02;
constexpr double most_seconds = 1e12;  // Numerics: no run takes longer: a record that says so is not to be trusted

// How much too low the best median is expected to be by chance alone.
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

}  // namespace

std::optional<KnownRuns> displacement_from(const Profile& profile, const Grouping& grouping, const KnownWork& known) {
  if (known.runs == 0 || profile.counter != known.circumstances.counter) return std::nullopt;
  const GroupedRun run{profile, grouping};
  const bool by_cpu_time = profile.counter == "cpu";
  const JudgedGroups judged = judged_groups(run);
  const std::vector<GroupDescription> of_known = known.descriptions();
  const auto shared = static_cast<double>(shared_segments(judged.descriptions, of_known));
  const double most_segments = std::max(judged.segments(), known.segments_of_a_run());
  if (shared == 0.0 || 100.0 * shared < least_shared_percent * most_segments) return std::nullopt;

  KnownRuns result{.runs = known.runs};
  double error = 0.0;
  double selection = 0.0;
  for (const KnownPair& pair : pairs_of(judged, of_known, by_cpu_time)) {
    const std::uint32_t group = judged.groups[pair.judged];
    const KnownGroup& best = known.groups[pair.known];
    const MedianDuration median = median_duration(run, group);
    const auto members = grouping.members(group);
    const auto n = static_cast<double>(members.size());
    result.displacement_seconds += n * (median.seconds - best.best_median);
    error = std::hypot(error, n * std::hypot(median.error, best.best_error));
    // Mostly the same run is the best for all groups, so chance worked alike in all of them.
    selection += n * selection_effect(best);
    for (const std::uint32_t segment : members) {
      result.matched_seconds += static_cast<double>(profile.duration[segment]);
    }
  }
  const double half_width = normal_quantile_of_interval() * error;
  result.low_seconds = result.displacement_seconds - half_width - selection;
  result.high_seconds = result.displacement_seconds + half_width;
  if (is_as_much_work(judged.descriptions, of_known, by_cpu_time)) {
    result.of_parts = beyond_parts(profile, known.parts);
  }
  // Where CPU time follows a disturbance, groups are cut in other places. Parts are not.
  const bool is_possible = std::abs(result.low_seconds) < most_seconds && std::abs(result.high_seconds) < most_seconds;
  return is_possible && (knows_groups(result, profile) || result.of_parts) ? std::optional(result) : std::nullopt;
}

bool knows_groups(const KnownRuns& known, const Profile& profile) {
  return 100.0 * known.matched_seconds >= least_coverage_percent * profile.run_time_seconds;
}

}  // namespace halcyon
