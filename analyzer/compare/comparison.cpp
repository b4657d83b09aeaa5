#include "analyzer/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "analyzer/statistics/median.hpp"
#include "analyzer/groups/timeline.hpp"

namespace halcyon {
namespace {

bool measure_work_by_cpu_time(const Profile& a, const Profile& b) { return a.counter == "cpu" && b.counter == "cpu"; }

}  // namespace

std::vector<GroupPair> match_groups(const Profile& a, const Grouping& groups_a, const Profile& b,
                                    const Grouping& groups_b) {
  return match_groups(describe_groups(a, groups_a), describe_groups(b, groups_b), measure_work_by_cpu_time(a, b));
}

bool is_judged(const GroupPair& pair, const Grouping& groups_a, const Grouping& groups_b) {
  return groups_a.members(pair.a).size() >= smallest_judged_group &&
         groups_b.members(pair.b).size() >= smallest_judged_group;
}

double median_displacement_seconds(const Profile& a, const Grouping& groups_a, const Profile& b,
                                   const Grouping& groups_b, const std::vector<GroupPair>& pairs) {
  double seconds = 0.0;
  for (const GroupPair& pair : pairs) {
    if (!is_judged(pair, groups_a, groups_b)) continue;
    const std::vector<float> in_a = ascending_durations(a, groups_a.members(pair.a));
    const std::vector<float> in_b = ascending_durations(b, groups_b.members(pair.b));
    seconds += static_cast<double>(in_a.size()) * (median_of_ascending(in_a) - median_of_ascending(in_b));
  }
  return seconds;
}

namespace {

/// A run and its groups.
struct Grouped {
  const Profile& profile;
  const Grouping& grouping;

  double seconds(std::uint32_t group) const {
    double sum = 0.0;
    for (const std::uint32_t segment : grouping.members(group)) sum += static_cast<double>(profile.duration[segment]);
    return sum;
  }
};

Interval around(double value, double half_width) { return {value - half_width, value + half_width}; }

double half_width(const Interval& interval) { return 0.5 * (interval.high - interval.low); }

/// The signatures of two runs, numbered alike.
struct SignatureNumbers {
  std::vector<std::uint32_t> of_a;  // (groups of a)
  std::vector<std::uint32_t> of_b;  // (groups of b)
};

SignatureNumbers number_signatures(const Grouped& a, const Grouped& b) {
  std::map<Signature, std::uint32_t> numbers;
  const auto number = [&numbers](const Grouped& run) {
    std::vector<std::uint32_t> of_groups;
    for (std::uint32_t group = 0; group < run.grouping.groups.count; ++group) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      const std::uint32_t first = run.grouping.members(group).front();
      of_groups.push_back(numbers.try_emplace(signature_of(run.profile, first), next).first->second);
    }
    return of_groups;
  };
  std::vector<std::uint32_t> of_a = number(a);
  return {std::move(of_a), number(b)};
}

// What of a signature is not as in the other.
std::string words_of(const Signature& signature, const Signature& other) {
  std::string words = signature.site != other.site ? "ends at " + signature.site : "";
  for (const FeatureInfo& info : features) {
    const double count = signature.counts[index_of(info.feature)];
    if (count == other.counts[index_of(info.feature)]) continue;
    words += fmt::format("{}{} {:.10g}", words.empty() ? "" : ", ", info.name, count);
  }
  return words;
}

// In order of execution, so that it can be told where the runs part.
Difference first_other_signature(const Grouped& a, const Grouped& b, const SignatureNumbers& signatures) {
  const std::size_t both = std::min(a.profile.segments, b.profile.segments);
  std::size_t segment = 0;
  while (segment < both &&
         signatures.of_a[a.grouping.groups.of[segment]] == signatures.of_b[b.grouping.groups.of[segment]]) {
    ++segment;
  }
  if (segment == both) {
    return {"other-calls", "segments", std::to_string(a.profile.segments), std::to_string(b.profile.segments)};
  }
  const Signature in_a = signature_of(a.profile, static_cast<std::uint32_t>(segment));
  const Signature in_b = signature_of(b.profile, static_cast<std::uint32_t>(segment));
  return {"other-calls", fmt::format("segment {} of the run", segment + 1), words_of(in_a, in_b), words_of(in_b, in_a)};
}

// The judged or longest group of a run without a partner, beside the largest group of the same calls in the other: what
// of their work is farthest apart.
Difference longest_unmatched_group(const Grouped& run, const std::vector<std::uint32_t>& signatures,
                                   const std::vector<bool>& is_matched, const Grouped& other,
                                   const std::vector<std::uint32_t>& other_signatures) {
  std::optional<std::uint32_t> longest_of_all;
  double longest_seconds = 0.0;
  for (std::uint32_t group = 0; group < run.grouping.groups.count; ++group) {
    if (is_matched[group]) continue;
    const double seconds = run.seconds(group);
    if (longest_of_all && seconds <= longest_seconds) continue;
    longest_of_all = group;
    longest_seconds = seconds;
  }
  if (!longest_of_all) {  // segments that did not fit into memory are in no group
    const auto recorded = [](const Profile& profile) {
      return fmt::format("{:.3g} s of {:.3g} s", length_of(profile.duration),
                         profile.run_time_seconds);
    };
    return {"low-coverage", "run time in recorded segments", recorded(run.profile), recorded(other.profile)};
  }
  const std::uint32_t longest = *longest_of_all;
  const std::span<const std::uint32_t> members = run.grouping.members(longest);
  const Signature signature = signature_of(run.profile, members.front());
  std::optional<std::uint32_t> beside;
  for (std::uint32_t group = 0; group < other.grouping.groups.count; ++group) {
    if (other_signatures[group] != signatures[longest]) continue;
    if (!beside || other.grouping.members(group).size() > other.grouping.members(*beside).size()) beside = group;
  }
  const std::string where = fmt::format("{} segments that end at {}", members.size(), signature.site);
  if (!beside) return {"other-work", where, "there", "missing"};
  const FeatureInfo* farthest = nullptr;
  double farthest_distance = -1.0;
  for (const FeatureInfo& info : features) {
    if (info.kind == FeatureKind::count) continue;
    const auto middle = [at = index_of(info.feature)](const Grouped& of, std::uint32_t group) {
      return range_of(of.profile.features[at], of.grouping.members(group)).median;
    };
    const double distance = relative_distance(middle(run, longest), middle(other, *beside));
    if (distance <= farthest_distance) continue;
    farthest = &info;
    farthest_distance = distance;
  }
  const auto value = [at = index_of(farthest->feature)](const Grouped& of, std::uint32_t group) {
    return fmt::format("{:.4g}", range_of(of.profile.features[at], of.grouping.members(group)).median);
  };
  return {"other-work", fmt::format("{} of {}", farthest->name, where), value(run, longest), value(other, *beside)};
}

std::string boundaries_in_words(const Profile& profile) {
  if (!profile.disagreement.empty()) return profile.disagreement;
  return profile.segments > 1 ? std::to_string(profile.segments - 1) : "none";
}

// What can be told before anything is grouped.
std::optional<Difference> differing_circumstances(const Profile& a, const Profile& b) {
  if (a.segments <= 1 || b.segments <= 1) {
    return Difference{"no-boundaries", "boundaries", boundaries_in_words(a), boundaries_in_words(b)};
  }
  if (a.ranks != b.ranks) {
    return Difference{"other-ranks", "ranks", std::to_string(a.ranks), std::to_string(b.ranks)};
  }
  if (a.counter != b.counter) return Difference{"other-counter", "counter", a.counter, b.counter};
  return std::nullopt;
}

double percent_of(double part, double whole) { return whole > 0.0 ? std::min(100.0, 100.0 * part / whole) : 0.0; }

// Of a pair that is judged on both sides.
MatchedGroup matched_group(const Grouped& a, const Analysis& analysis_a, const Grouped& b, const Analysis& analysis_b,
                           const GroupPair& pair) {
  const std::vector<float> durations_a = ascending_durations(a.profile, a.grouping.members(pair.a));
  const std::vector<float> durations_b = ascending_durations(b.profile, b.grouping.members(pair.b));
  const auto side = [](Recorded durations, const JudgedGroup& judged) {
    return MatchedGroup::Side{durations.size(), median_of_ascending(durations), judged.baseline_seconds};
  };
  const double n = static_cast<double>(durations_a.size());
  MatchedGroup group{signature_of(a.profile, a.grouping.members(pair.a).front()).site,
                     side(durations_a, *analysis_a.judged_group(pair.a)),
                     side(durations_b, *analysis_b.judged_group(pair.b))};
  group.displacement_seconds = n * (group.a.median - group.b.median);
  const double error = n * std::hypot(error_of_median(durations_a), error_of_median(durations_b));
  group.displacement_interval_seconds = around(group.displacement_seconds, normal_quantile_of_interval() * error);
  return group;
}

}  // namespace

AnalyzedRun analyze_run(const Profile& profile) {
  AnalyzedRun run{.profile = profile, .grouping = group_segments(profile)};
  run.analysis = analyze(profile, run.grouping, methods.front().name);
  return run;
}

Comparison compare(const Profile& a, const Profile& b) { return compare(analyze_run(a), analyze_run(b)); }

Comparison compare(const AnalyzedRun& run_a, const AnalyzedRun& run_b) {
  const Profile& profile_a = run_a.profile;
  const Profile& profile_b = run_b.profile;
  Comparison comparison;
  comparison.a.analysis = run_a.analysis;
  comparison.b.analysis = run_b.analysis;
  comparison.difference = differing_circumstances(profile_a, profile_b);
  if (comparison.difference) return comparison;

  const Grouping& groups_a = run_a.grouping;
  const Grouping& groups_b = run_b.grouping;
  const Grouped a{profile_a, groups_a};
  const Grouped b{profile_b, groups_b};
  const SignatureNumbers signatures = number_signatures(a, b);
  const std::vector<GroupDescription> described_a = describe_groups(profile_a, groups_a);
  const std::vector<GroupDescription> described_b = describe_groups(profile_b, groups_b);
  const auto shared = static_cast<double>(shared_segments(described_a, described_b));
  comparison.a.shared_percent = percent_of(shared, static_cast<double>(profile_a.segments));
  comparison.b.shared_percent = percent_of(shared, static_cast<double>(profile_b.segments));
  if (std::min(comparison.a.shared_percent, comparison.b.shared_percent) < least_shared_percent) {
    comparison.difference = first_other_signature(a, b, signatures);
    return comparison;
  }

  const std::vector<GroupPair> pairs =
      match_groups(described_a, described_b, measure_work_by_cpu_time(profile_a, profile_b));
  std::vector<bool> is_matched_a(groups_a.groups.count, false);
  std::vector<bool> is_matched_b(groups_b.groups.count, false);
  double seconds_a = 0.0;
  double seconds_b = 0.0;
  for (const GroupPair& pair : pairs) {
    is_matched_a[pair.a] = true;
    is_matched_b[pair.b] = true;
    seconds_a += a.seconds(pair.a);
    seconds_b += b.seconds(pair.b);
  }
  comparison.a.matched_percent = percent_of(seconds_a, profile_a.run_time_seconds);
  comparison.b.matched_percent = percent_of(seconds_b, profile_b.run_time_seconds);
  if (comparison.a.matched_percent < least_coverage_percent) {
    comparison.difference = longest_unmatched_group(a, signatures.of_a, is_matched_a, b, signatures.of_b);
    return comparison;
  }
  if (comparison.b.matched_percent < least_coverage_percent) {
    comparison.difference = longest_unmatched_group(b, signatures.of_b, is_matched_b, a, signatures.of_a);
    std::swap(comparison.difference->in_a, comparison.difference->in_b);
    return comparison;
  }

  double half_width_of_medians = 0.0;
  for (const GroupPair& pair : pairs) {
    if (!is_judged(pair, groups_a, groups_b)) continue;
    const MatchedGroup& group =
        comparison.groups.emplace_back(matched_group(a, comparison.a.analysis, b, comparison.b.analysis, pair));
    comparison.displacement_seconds += group.displacement_seconds;
    comparison.a.baseline_rise_seconds += static_cast<double>(group.a.segments) * (group.a.baseline - group.b.baseline);
    comparison.b.baseline_rise_seconds += static_cast<double>(group.b.segments) * (group.b.baseline - group.a.baseline);
    half_width_of_medians = std::hypot(half_width_of_medians, half_width(group.displacement_interval_seconds));
  }
  std::stable_sort(comparison.groups.begin(), comparison.groups.end(),
                   [](const MatchedGroup& x, const MatchedGroup& y) {
                     return std::abs(x.displacement_seconds) > std::abs(y.displacement_seconds);
                   });
  comparison.displacement_interval_seconds = around(comparison.displacement_seconds, half_width_of_medians);
  comparison.more_disturbed_seconds = comparison.a.disturbed_seconds() - comparison.b.disturbed_seconds();
  // Intervals of excess are longer to one side than to the other.
  const auto sides_of_excess = [](const Analysis& analysis) {
    const auto& [low, high] = analysis.result().interval_percent;
    const double middle = analysis.result().interference_percent;
    const double seconds_of_a_percent = analysis.run_time_seconds / 100.0;
    return Interval{(middle - low) * seconds_of_a_percent, (high - middle) * seconds_of_a_percent};
  };
  const Interval in_a = sides_of_excess(comparison.a.analysis);
  const Interval in_b = sides_of_excess(comparison.b.analysis);
  comparison.more_disturbed_interval_seconds = {
      comparison.more_disturbed_seconds - std::hypot(half_width_of_medians, in_a.low, in_b.high),
      comparison.more_disturbed_seconds + std::hypot(half_width_of_medians, in_a.high, in_b.low)};
  return comparison;
}

const ComparedRun* Comparison::more_disturbed() const {
  if (difference || !a.analysis.is_comparable() || !b.analysis.is_comparable()) return nullptr;
  if (!excludes_zero(more_disturbed_interval_seconds)) return nullptr;
  return more_disturbed_seconds > 0.0 ? &a : &b;
}

}  // namespace halcyon
