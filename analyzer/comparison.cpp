#include "analyzer/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <compare>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "analyzer/estimators.hpp"
#include "analyzer/sorting.hpp"

namespace halcyon {
namespace {

// A core that shares its pipelines, caches or memory with another's work does not get slower than this by it.
constexpr double most_growth_of_cpu_time = 1.0;
// What a delay leaves behind, caches to be filled again, costs microseconds however short the work.
constexpr double cold_start_nanoseconds = 1e4;
// A solver that takes a step more or less still does the same work; a run of other input does not.
constexpr double least_shared_percent = 90.0;

/// The values of a feature in a group: its chain of bins, in three numbers.
struct Range {
  double least = 0.0;
  double median = 0.0;
  double greatest = 0.0;
};

/// What is the same for all segments of a group: compared exactly. Values, not bins, which differ between profiles.
struct Signature {
  std::string_view site;
  std::array<double, feature_count> counts{};  // zero for what is no count
  auto operator<=>(const Signature&) const = default;
};

struct Description {
  bool of_a = true;
  std::uint32_t group = 0;
  std::size_t segments = 0;
  std::array<Range, feature_count> ranges;  // of work and volumes
};

Range range_of(const FeatureColumn& column, std::span<const std::uint32_t> members) {
  const auto value = [&column](std::uint32_t segment) { return column.bins[column.bin_of(segment)]; };
  Range range{value(members.front()), value(members.front()), value(members.front())};
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

using BySignature = std::map<Signature, std::vector<Description>>;

void describe(const Profile& profile, const Grouping& grouping, bool of_a, BySignature& all) {
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    const std::span<const std::uint32_t> members = grouping.members(group);
    Description description{of_a, group, members.size(), {}};
    for (const FeatureInfo& info : features) {
      if (info.kind == FeatureKind::count) continue;
      const std::size_t at = index_of(info.feature);
      description.ranges[at] = range_of(profile.features[at], members);
    }
    all[signature_of(profile, members.front())].push_back(description);
  }
}

// Cuts groups where the chains of values that both runs make together are cut: the rule of cluster_ascending, for
// ranges.
std::vector<std::vector<Description>> split_by(std::size_t feature, std::vector<Description> together) {
  const auto range = [feature](const Description& description) { return description.ranges[feature]; };
  std::sort(together.begin(), together.end(), [&range](const Description& x, const Description& y) {
    return std::pair(range(x).least, x.group) < std::pair(range(y).least, y.group);
  });
  std::vector<std::vector<Description>> parts;
  double reached = 0.0;
  for (Description& description : together) {
    const Range& values = range(description);
    const bool far = values.least > reached && relative_distance(reached, values.least) >= relative_distance_threshold;
    if (parts.empty() || far) parts.emplace_back();
    reached = parts.back().empty() ? values.greatest : std::max(reached, values.greatest);
    parts.back().push_back(std::move(description));
  }
  return parts;
}

std::vector<float> ascending_durations(const Profile& profile, std::span<const std::uint32_t> members) {
  std::vector<float> durations = durations_of(profile, members);
  sort_ascending(durations);
  return durations;
}

struct Candidate {
  GroupPair pair;
  double score = 0.0;
};

// Best first. A score prefers the pair that explains more segments, unless a nearer one explains nearly as many: were
// it nearness alone, a few stray segments would take the partner of a large group that a disturbed run has slowed down.
void match_alike(const std::vector<Description>& alike, bool by_cpu_time, std::vector<GroupPair>& pairs) {
  constexpr std::size_t compute = index_of(Feature::compute);
  std::vector<Candidate> candidates;
  for (const Description& x : alike) {
    if (!x.of_a) continue;
    for (const Description& y : alike) {
      if (y.of_a) continue;
      double distance = relative_distance(x.ranges[compute].median, y.ranges[compute].median);
      if (by_cpu_time &&
          relative_distance(x.ranges[compute].median + cold_start_nanoseconds,
                            y.ranges[compute].median + cold_start_nanoseconds) > most_growth_of_cpu_time) {
        continue;
      }
      for (const FeatureInfo& info : features) {
        if (info.kind != FeatureKind::volume) continue;
        const std::size_t at = index_of(info.feature);
        distance = std::max(distance, relative_distance(x.ranges[at].median, y.ranges[at].median));
      }
      candidates.push_back(
          {{x.group, y.group}, static_cast<double>(std::min(x.segments, y.segments)) / (1.0 + distance)});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    if (x.score != y.score) return x.score > y.score;
    return std::pair(x.pair.a, x.pair.b) < std::pair(y.pair.a, y.pair.b);
  });
  std::unordered_set<std::uint32_t> taken_of_a;
  std::unordered_set<std::uint32_t> taken_of_b;
  for (const Candidate& candidate : candidates) {
    if (taken_of_a.count(candidate.pair.a) != 0 || taken_of_b.count(candidate.pair.b) != 0) continue;
    taken_of_a.insert(candidate.pair.a);
    taken_of_b.insert(candidate.pair.b);
    pairs.push_back(candidate.pair);
  }
}

}  // namespace

std::vector<GroupPair> match_groups(const Profile& a, const Grouping& groups_a, const Profile& b,
                                    const Grouping& groups_b) {
  BySignature by_signature;
  describe(a, groups_a, true, by_signature);
  describe(b, groups_b, false, by_signature);
  const bool by_cpu_time = a.counter == "cpu" && b.counter == "cpu";
  std::vector<GroupPair> pairs;
  for (auto& [signature, descriptions] : by_signature) {
    std::vector<std::vector<Description>> parts{std::move(descriptions)};
    for (const FeatureInfo& info : features) {
      if (info.kind == FeatureKind::count || (info.kind == FeatureKind::work && by_cpu_time)) continue;
      std::vector<std::vector<Description>> finer;
      for (std::vector<Description>& part : parts) {
        for (std::vector<Description>& piece : split_by(index_of(info.feature), std::move(part))) {
          finer.push_back(std::move(piece));
        }
      }
      parts = std::move(finer);
    }
    for (const std::vector<Description>& part : parts) match_alike(part, by_cpu_time, pairs);
  }
  std::sort(pairs.begin(), pairs.end(), [](const GroupPair& x, const GroupPair& y) { return x.a < y.a; });
  return pairs;
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

// The standard error of a median without a model of the distribution, from two order statistics around it (R. M. Price,
// D. G. Bonett, Estimating the variance of the sample median, J. Stat. Comput. Simul. 68, 2001): with
// c = (n + 1)/2 - sqrt(n) it is (x[n-c+1] - x[c]) / 2z, where z is the normal quantile of the binomial chance that the
// true median lies below x[c].
double error_of_median(Recorded ascending) {
  const double n = static_cast<double>(ascending.size());
  const auto c = static_cast<std::size_t>(std::max(1L, std::lround((n + 1.0) / 2.0 - std::sqrt(n))));
  const double below = boost::math::cdf(boost::math::binomial(n, 0.5), static_cast<double>(c - 1));
  const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), below));
  return (static_cast<double>(ascending[ascending.size() - c]) - static_cast<double>(ascending[c - 1])) / (2.0 * z);
}

Interval around(double value, double half_width) { return {value - half_width, value + half_width}; }

double half_width(const Interval& interval) { return 0.5 * (interval.high - interval.low); }

/// The signatures of two runs, numbered alike.
struct SignatureNumbers {
  std::vector<std::uint32_t> of_a;  // (groups of a)
  std::vector<std::uint32_t> of_b;  // (groups of b)
  std::size_t count = 0;
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
  SignatureNumbers result{number(a), number(b)};
  result.count = numbers.size();
  return result;
}

/// Segments of either run that have one of the same signature in the other, one for one.
std::size_t shared_segments(const Grouped& a, const Grouped& b, const SignatureNumbers& signatures) {
  std::vector<std::size_t> in_a(signatures.count, 0);
  std::vector<std::size_t> in_b(signatures.count, 0);
  for (std::uint32_t g = 0; g < signatures.of_a.size(); ++g) in_a[signatures.of_a[g]] += a.grouping.members(g).size();
  for (std::uint32_t g = 0; g < signatures.of_b.size(); ++g) in_b[signatures.of_b[g]] += b.grouping.members(g).size();
  std::size_t shared = 0;
  for (std::size_t i = 0; i < signatures.count; ++i) shared += std::min(in_a[i], in_b[i]);
  return shared;
}

// What of a signature is not as in the other.
std::string words_of(const Signature& signature, const Signature& other) {
  std::string words = signature.site != other.site ? "ends at " + std::string(signature.site) : "";
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
      return fmt::format("{:.3g} s of {:.3g} s", std::accumulate(profile.duration.begin(), profile.duration.end(), 0.0),
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
  MatchedGroup group{std::string(signature_of(a.profile, a.grouping.members(pair.a).front()).site),
                     side(durations_a, *analysis_a.judged_group(pair.a)),
                     side(durations_b, *analysis_b.judged_group(pair.b))};
  group.displacement_seconds = n * (group.a.median - group.b.median);
  const double error = n * std::hypot(error_of_median(durations_a), error_of_median(durations_b));
  const double quantile = boost::math::quantile(boost::math::normal(), 0.5 + interval_confidence / 2.0);
  group.displacement_interval_seconds = around(group.displacement_seconds, quantile * error);
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
  const auto shared = static_cast<double>(shared_segments(a, b, signatures));
  comparison.a.shared_percent = percent_of(shared, static_cast<double>(profile_a.segments));
  comparison.b.shared_percent = percent_of(shared, static_cast<double>(profile_b.segments));
  if (std::min(comparison.a.shared_percent, comparison.b.shared_percent) < least_shared_percent) {
    comparison.difference = first_other_signature(a, b, signatures);
    return comparison;
  }

  const std::vector<GroupPair> pairs = match_groups(profile_a, groups_a, profile_b, groups_b);
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
