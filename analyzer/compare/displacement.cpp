#include "analyzer/compare/displacement.hpp"

#include <cmath>

#include "analyzer/statistics/interval.hpp"
#include "analyzer/statistics/median.hpp"

namespace halcyon {

double median_displacement_seconds(const GroupedRun& a, const GroupedRun& b, const std::vector<GroupPair>& pairs) {
  double seconds = 0.0;
  for (const GroupPair& pair : pairs) {
    if (!is_judged(pair, a.grouping, b.grouping)) continue;
    const std::vector<float> in_a = ascending_durations(a.profile, a.grouping.members(pair.a));
    const std::vector<float> in_b = ascending_durations(b.profile, b.grouping.members(pair.b));
    seconds += static_cast<double>(in_a.size()) * (median_of_ascending(in_a) - median_of_ascending(in_b));
  }
  return seconds;
}

MatchedGroup matched_group(const JudgedRun& a, const JudgedRun& b, const GroupPair& pair) {
  const std::vector<float> durations_a = ascending_durations(a.profile, a.grouping.members(pair.a));
  const std::vector<float> durations_b = ascending_durations(b.profile, b.grouping.members(pair.b));
  const auto side = [](Recorded durations, const JudgedGroup& judged) {
    return MatchedGroup::Side{durations.size(), median_of_ascending(durations), judged.baseline_seconds};
  };
  const double n = static_cast<double>(durations_a.size());
  MatchedGroup group{signature_of(a.profile, a.grouping.members(pair.a).front()).site,
                     side(durations_a, *a.analysis.judged_group(pair.a)),
                     side(durations_b, *b.analysis.judged_group(pair.b))};
  group.displacement_seconds = n * (group.a.median - group.b.median);
  const double error = n * std::hypot(error_of_median(durations_a), error_of_median(durations_b));
  group.displacement_interval_seconds =
      interval_around(group.displacement_seconds, normal_quantile_of_interval() * error);
  return group;
}

}  // namespace halcyon
