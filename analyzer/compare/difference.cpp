#include "analyzer/compare/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "analyzer/groups/clusters.hpp"
#include "analyzer/matching/group_description.hpp"
#include "analyzer/groups/timeline.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon {
namespace {

/// The signatures of two runs, numbered alike.
struct SignatureNumbers {
  std::vector<std::uint32_t> of_a;  // (groups of a)
  std::vector<std::uint32_t> of_b;  // (groups of b)
};

SignatureNumbers number_signatures(const GroupedRun& a, const GroupedRun& b) {
  std::map<Signature, std::uint32_t> numbers;
  const auto number = [&numbers](const GroupedRun& run) {
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

// The parts of a signature that differ from the other.
std::string words_of(const Signature& signature, const Signature& other) {
  std::string words = signature.site != other.site ? "ends at " + signature.site : "";
  for (const FeatureInfo& info : features) {
    const double count = signature.counts[index_of(info.feature)];
    if (count == other.counts[index_of(info.feature)]) continue;
    words += fmt::format("{}{} {:.10g}", words.empty() ? "" : ", ", info.name, count);
  }
  return words;
}

std::string boundaries_in_words(const Profile& profile) {
  if (!profile.disagreement.empty()) return profile.disagreement;
  return profile.segments > 1 ? std::to_string(profile.segments - 1) : "none";
}

std::optional<std::uint32_t> longest_unmatched_group(const GroupedRun& run, const std::vector<bool>& is_matched) {
  std::optional<std::uint32_t> longest;
  double longest_seconds = 0.0;
  for (std::uint32_t group = 0; group < run.grouping.groups.count; ++group) {
    if (is_matched[group]) continue;
    const double seconds = run.seconds_of(group);
    if (longest && seconds <= longest_seconds) continue;
    longest = group;
    longest_seconds = seconds;
  }
  return longest;
}

// The largest group of the same calls in the other run.
std::optional<std::uint32_t> group_of_same_calls(const GroupedRun& run, std::uint32_t group, const GroupedRun& other) {
  const SignatureNumbers signatures = number_signatures(run, other);
  std::optional<std::uint32_t> beside;
  for (std::uint32_t candidate = 0; candidate < other.grouping.groups.count; ++candidate) {
    if (signatures.of_b[candidate] != signatures.of_a[group]) continue;
    if (!beside || other.grouping.members(candidate).size() > other.grouping.members(*beside).size())
      beside = candidate;
  }
  return beside;
}

}  // namespace

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

Difference differing_calls(const GroupedRun& a, const GroupedRun& b) {
  const SignatureNumbers signatures = number_signatures(a, b);
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

Difference differing_work(const GroupedRun& run, const std::vector<bool>& is_matched, const GroupedRun& other) {
  const std::optional<std::uint32_t> longest = longest_unmatched_group(run, is_matched);
  if (!longest) {  // segments that did not fit into memory are in no group
    const auto recorded = [](const Profile& profile) {
      return fmt::format("{:.3g} s of {:.3g} s", length_of(profile.duration), profile.run_time_seconds);
    };
    return {"segments-dropped", "run time in recorded segments", recorded(run.profile), recorded(other.profile)};
  }
  const std::span<const std::uint32_t> members = run.grouping.members(*longest);
  const Signature signature = signature_of(run.profile, members.front());
  const std::string where = fmt::format("{} ending at {}", plural(members.size(), "segment"), signature.site);
  const std::optional<std::uint32_t> beside = group_of_same_calls(run, *longest, other);
  if (!beside) return {"other-work", where, "present", "missing"};
  const FeatureInfo* farthest = nullptr;
  double farthest_distance = -1.0;
  for (const FeatureInfo& info : features) {
    if (info.kind == FeatureKind::count) continue;
    const auto middle = [at = index_of(info.feature)](const GroupedRun& of, std::uint32_t group) {
      return range_of(of.profile.features[at], of.grouping.members(group)).median;
    };
    const double distance = relative_distance(middle(run, *longest), middle(other, *beside));
    if (distance <= farthest_distance) continue;
    farthest = &info;
    farthest_distance = distance;
  }
  const auto value = [at = index_of(farthest->feature)](const GroupedRun& of, std::uint32_t group) {
    return fmt::format("{:.4g}", range_of(of.profile.features[at], of.grouping.members(group)).median);
  };
  return {"other-work", fmt::format("{} of {}", farthest->name, where), value(run, *longest), value(other, *beside)};
}

}  // namespace halcyon
