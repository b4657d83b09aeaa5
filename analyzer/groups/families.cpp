#include "analyzer/groups/families.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/groups/expected_time.hpp"

namespace halcyon {
namespace {

// Groups of one place are near if their expected times differ by less than this factor. What more costs is known less
// well.
constexpr double near_factor = 1.5;

// A group among those that end at the same place.
struct Neighbour {
  std::uint32_t group;
  std::size_t segments;
  double log_expected;

  bool is_large() const { return segments >= smallest_judged_group; }
};
using Neighbours = std::vector<Neighbour>;

// The set that the nearest large neighbour is in, if it is near enough. `large`: by ascending time, with their sets.
std::optional<std::size_t> nearest_set(const std::vector<std::pair<double, std::size_t>>& large, double log_expected) {
  const auto distance = [&](const auto& one) { return std::abs(one.first - log_expected); };
  const auto nearest = std::ranges::min_element(large, {}, distance);
  if (nearest == large.end() || distance(*nearest) >= std::log(near_factor)) return std::nullopt;
  return nearest->second;
}

// Each set makes a family. `neighbours`: by ascending time.
std::vector<Neighbours> sets_of(const Neighbours& neighbours) {
  std::vector<Neighbours> sets;
  std::vector<std::pair<double, std::size_t>> large;
  for (const Neighbour& one : neighbours) {
    if (!one.is_large()) continue;
    large.emplace_back(one.log_expected, sets.size());
    sets.push_back({one});
  }
  Neighbours chain;  // each near to the one before, and to no large one
  const auto end_chain = [&] {
    std::size_t segments = 0;
    for (const Neighbour& one : chain) segments += one.segments;
    if (segments >= smallest_judged_group) sets.push_back(chain);
    chain.clear();
  };
  for (const Neighbour& one : neighbours) {
    if (one.is_large() || !std::isfinite(one.log_expected)) continue;
    if (const std::optional<std::size_t> set = nearest_set(large, one.log_expected)) {
      sets[*set].push_back(one);
      continue;
    }
    if (!chain.empty() && one.log_expected - chain.back().log_expected >= std::log(near_factor)) end_chain();
    chain.push_back(one);
  }
  end_chain();
  return sets;
}

Family family_of(std::uint32_t group, const Grouping& grouping) {
  return {.groups = {group}, .relative = {1.0F}, .members = grouping.members(group), .expected = {}};
}

// Returns the members, in the order of time.
std::vector<std::uint32_t> join(Family& family, Neighbours set, const Grouping& grouping) {
  std::ranges::sort(set, {}, &Neighbour::group);
  std::vector<std::uint32_t> members;
  family.groups.clear();
  double seconds = 0.0;
  for (const Neighbour& one : set) {
    const std::span<const std::uint32_t> of_group = grouping.members(one.group);
    members.insert(members.end(), of_group.begin(), of_group.end());
    family.groups.push_back(one.group);
    seconds += static_cast<double>(one.segments) * std::exp(one.log_expected);
  }
  const double mean = seconds / static_cast<double>(members.size());
  family.relative.clear();
  for (const Neighbour& one : set) family.relative.push_back(static_cast<float>(std::exp(one.log_expected) / mean));
  std::ranges::sort(members);
  return members;
}

// Relative to their mean; 1 where nothing is known.
std::vector<float> expected_of(std::span<const std::uint32_t> members, const ExpectedTime& expected) {
  std::vector<float> seconds;
  double sum = 0.0;
  for (const std::uint32_t member : members) {
    seconds.push_back(static_cast<float>(expected.of(member)));
    sum += static_cast<double>(seconds.back());
  }
  const auto mean = static_cast<float>(sum / static_cast<double>(members.size()));
  for (float& one : seconds) one = mean > 0.0F ? one / mean : 1.0F;
  return seconds;
}

}  // namespace

Families::Families(const Grouping& grouping) {
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    if (grouping.members(group).size() >= smallest_judged_group) families_.push_back(family_of(group, grouping));
  }
}

Families::Families(const Profile& profile, const Grouping& grouping) : Families(grouping) {
  if (families_.size() == grouping.groups.count) return;  // none is small
  families_.clear();
  const ExpectedTime expected(profile, work_of(profile, grouping));
  std::map<std::uint16_t, Neighbours> by_site;
  for (std::uint32_t group = 0; group < grouping.groups.count; ++group) {
    const std::span<const std::uint32_t> members = grouping.members(group);
    by_site[site_of(profile, members.front())].push_back(
        {group, members.size(), std::log(expected.of(members[members.size() / 2]))});
  }
  for (auto& [site, neighbours] : by_site) {
    std::ranges::stable_sort(neighbours, {}, &Neighbour::log_expected);
    for (Neighbours& set : sets_of(neighbours)) {
      Family& family = families_.emplace_back(family_of(set.front().group, grouping));
      if (set.size() == 1) continue;
      family.members = joined_members_.emplace_back(join(family, std::move(set), grouping));
      family.expected = expected_of(family.members, expected);
    }
  }
  std::ranges::sort(families_, {}, &Family::groups);
}

std::size_t Families::segments() const {
  std::size_t segments = 0;
  for (const Family& family : families_) segments += family.members.size();
  return segments;
}

std::vector<bool> Families::contained(std::size_t segments) const {
  std::vector<bool> is_contained(segments, false);
  for (const Family& family : families_) {
    for (const std::uint32_t member : family.members) is_contained[member] = true;
  }
  return is_contained;
}

}  // namespace halcyon
