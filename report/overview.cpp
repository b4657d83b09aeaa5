#include "report/overview.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "analyzer/groups/timeline.hpp"
#include "analyzer/judge/judged_segments.hpp"

namespace halcyon {
namespace {

// With a larger ratio, a linear scale has no room for the shorter durations.
constexpr double widest_linear_ratio = 8.0;
// Of the excess. A rank that lost less does not stand out of many.
constexpr double least_share_of_worst_rank = 0.01;

void add_to(std::vector<TimeSlot>& slots, bool starts_slot, double begin, float duration, bool is_disturbed) {
  if (starts_slot) slots.push_back({.begin_seconds = begin});
  TimeSlot& slot = slots.back();
  ++slot.segments;
  if (is_disturbed) {
    ++slot.disturbed;
    slot.longest_disturbed = std::max(slot.longest_disturbed, duration);
  } else {
    slot.shortest = slot.longest > 0.0F ? std::min(slot.shortest, duration) : duration;
    slot.longest = std::max(slot.longest, duration);
  }
}

Histogram empty_histogram(float shortest, float longest, std::size_t bins) {
  Histogram histogram{.from_seconds = static_cast<double>(shortest), .to_seconds = static_cast<double>(longest)};
  histogram.logarithmic = shortest > 0.0F && longest > widest_linear_ratio * shortest;
  // Durations that are all alike have a bin of some width, too.
  if (!(histogram.to_seconds > histogram.from_seconds)) histogram.to_seconds = histogram.from_seconds * 1.01 + 1e-9;
  histogram.undisturbed.resize(bins);
  histogram.disturbed.resize(bins);
  return histogram;
}

// The histogram of the durations of `members`.
template <class Members, class IsDisturbed>
Histogram histogram_of(const Profile& profile, const Members& members, std::size_t bins, IsDisturbed is_disturbed) {
  float shortest = HUGE_VALF;
  float longest = 0.0F;
  for (const std::uint32_t segment : members) {
    const float duration = profile.duration[segment];
    if (duration > 0.0F) shortest = std::min(shortest, duration);
    longest = std::max(longest, duration);
  }
  if (longest <= 0.0F) return {};
  Histogram histogram = empty_histogram(shortest, longest, bins);
  const auto place = [&histogram](double value) { return histogram.logarithmic ? std::log(value) : value; };
  const double begin = place(histogram.from_seconds);
  const double scale = static_cast<double>(bins) / (place(histogram.to_seconds) - begin);
  for (const std::uint32_t segment : members) {
    const double duration = std::max(static_cast<double>(profile.duration[segment]), histogram.from_seconds);
    const auto bin = std::min(static_cast<std::size_t>((place(duration) - begin) * scale), bins - 1);
    ++(is_disturbed(segment) ? histogram.disturbed : histogram.undisturbed)[bin];
  }
  return histogram;
}

// Numbers of the judged groups that are worth a picture.
std::vector<std::size_t> groups_to_show(const std::vector<GroupOverview>& groups, std::size_t most) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto by = [&order, &groups](auto begin, double GroupOverview::*what) {
    std::stable_sort(begin, order.end(),
                     [&](std::size_t a, std::size_t b) { return groups[a].*what > groups[b].*what; });
  };
  by(order.begin(), &GroupOverview::excess_seconds);
  const auto lost = std::find_if(order.begin(), order.end(),
                                 [&groups](std::size_t group) { return groups[group].excess_seconds <= 0.0; });
  by(lost, &GroupOverview::seconds);
  order.resize(std::min(order.size(), most));
  return order;
}

LatenessMap empty_map(const Profile& profile, const Breakdown& breakdown, const OverviewSize& size) {
  LatenessMap map;
  const auto ranks = static_cast<std::uint32_t>(profile.ranks);
  const auto rows = static_cast<std::uint32_t>(std::min<std::size_t>(size.map_rows, ranks));
  map.ranks_in_row = rows > 0 ? (ranks + rows - 1) / rows : 1;
  map.rows = (ranks + map.ranks_in_row - 1) / map.ranks_in_row;
  map.columns = size.map_columns;
  map.seconds.resize(map.rows * map.columns);
  if (map.ranks_in_row == 1) return map;
  for (const RankShare& share : breakdown.ranks) {
    if (map.worst_ranks.size() == size.map_worst_ranks) break;
    if (share.seconds < least_share_of_worst_rank * breakdown.seconds) break;
    map.worst_ranks.push_back(share.rank);
  }
  map.worst_seconds.resize(map.worst_ranks.size() * map.columns);
  return map;
}

}  // namespace

double Histogram::edge(std::size_t bin) const {
  const double share = static_cast<double>(bin) / static_cast<double>(undisturbed.size());
  return logarithmic ? from_seconds * std::pow(to_seconds / from_seconds, share)
                     : from_seconds + share * (to_seconds - from_seconds);
}

Overview overview_of(const Profile& profile, const Grouping& grouping, const Analysis& analysis,
                     const OverviewSize& size) {
  Overview overview{.seconds = times_of(profile).length()};
  std::vector<bool> disturbed(profile.segments);

  overview.lateness = empty_map(profile, analysis.breakdown, size);
  LatenessMap& map = overview.lateness;
  const PartsByTime slots{.seconds = overview.seconds, .count = size.slots};
  const PartsByTime columns{.seconds = overview.seconds, .count = map.columns};
  std::size_t last_slot = size.slots;  // none yet
  JudgedSegments segments(profile, grouping, analysis);
  while (const std::optional<JudgedSegment> segment = segments.next()) {
    const std::size_t slot = slots.at(segment->start_seconds);
    add_to(overview.slots, slot != last_slot, segment->start_seconds, profile.duration[segment->number],
           segment->disturbed);
    last_slot = slot;
    disturbed[segment->number] = segment->disturbed;
    const std::uint32_t rank = profile.last_rank[segment->number];
    const std::size_t column = columns.at(segment->start_seconds);
    map.seconds[rank / map.ranks_in_row * map.columns + column] += segment->excess_seconds;
    const auto worst = std::find(map.worst_ranks.begin(), map.worst_ranks.end(), rank);
    if (worst == map.worst_ranks.end()) continue;
    const auto place = static_cast<std::size_t>(worst - map.worst_ranks.begin());
    map.worst_seconds[place * map.columns + column] += segment->excess_seconds;
  }

  const auto is_disturbed = [&disturbed](std::uint32_t segment) { return disturbed[segment]; };
  overview.durations = histogram_of(profile, grouping.by_group, size.bins, is_disturbed);
  std::vector<GroupOverview> groups;
  groups.reserve(analysis.judged.size());
  for (const JudgedGroup& judged : analysis.judged) {
    const std::span<const std::uint32_t> members = grouping.members(judged.group);
    GroupOverview& group = groups.emplace_back(GroupOverview{.judged = judged, .segments = members.size()});
    for (const std::uint32_t segment : members) {
      group.seconds += static_cast<double>(profile.duration[segment]);
      group.excess_seconds += static_cast<double>(analysis.excess[segment]);
      if (is_disturbed(segment)) ++group.disturbed;
    }
  }
  for (const std::size_t number : groups_to_show(groups, size.groups)) {
    GroupOverview& group = overview.groups.emplace_back(std::move(groups[number]));
    const std::span<const std::uint32_t> members = grouping.members(group.judged.group);
    group.site = profile.sites[site_of(profile, members.front())];
    group.histogram = histogram_of(profile, members, size.bins, is_disturbed);
  }
  return overview;
}

}  // namespace halcyon
