#include "analyzer/attribution/breakdown.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "analyzer/attribution/divided_segments.hpp"
#include "analyzer/groups/timeline.hpp"
#include "analyzer/statistics/in_parallel.hpp"

namespace halcyon {
namespace {

constexpr double usual_share = 0.25;

// The parts of a segment's duration on the rank that held the others up, in s: the time kinds, then computation.
constexpr std::size_t part_count = time_kind_count + 1;
constexpr std::size_t computation_part = time_kind_count;
using Parts = std::array<double, part_count>;

ExcessKind kind_of(std::size_t part) {
  if (part == computation_part) return ExcessKind::computation;
  switch (static_cast<TimeKind>(part)) {
    case TimeKind::point_to_point: return ExcessKind::point_to_point;
    case TimeKind::collective:
    case TimeKind::boundary: return ExcessKind::collective;
    case TimeKind::file_io: return ExcessKind::file_io;
    case TimeKind::device: return ExcessKind::device;
  }
  return ExcessKind::computation;
}

// Calls that two segments share count in each with what it has of them, but in no segment for more than it took.
Parts parts_of(const Profile& profile, std::size_t segment) {
  Parts parts{};
  const auto duration = static_cast<double>(profile.duration[segment]);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    parts[kind] = static_cast<double>(profile.last_rank_times[kind][segment]);
  }
  const double in_calls = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (in_calls > duration) {
    for (double& part : parts) part *= duration / in_calls;
  } else {
    parts[computation_part] = duration - in_calls;
  }
  return parts;
}

double off_cpu(const Profile& profile, std::size_t segment) {
  return profile.last_rank_off_cpu.empty() ? 0.0 : static_cast<double>(profile.last_rank_off_cpu[segment]);
}

double lost_to_cpu_wait(const Profile& profile, std::size_t segment) {
  return profile.lost_to_cpu_wait.empty() ? 0.0 : static_cast<double>(profile.lost_to_cpu_wait[segment]);
}

double sum(const Parts& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

/// What is known of a group before its excess can be divided.
struct GroupTimes {
  double seconds = 0.0;    // of excess
  double durations = 0.0;  // s, less the excess
  bool has_excess = false;
  double most_of_usual = 0.0;  // s, the largest excess, positive or negative, of a usual segment
  double usual_segments = 0.0;
  Parts usual{};  // s of a segment
  double usual_off_cpu = 0.0;
  double usual_wait = 0.0;  // for a CPU
  Parts typical{};          // shares of the parts in the explained excess
};

/// The excess that segments explain by themselves.
struct Explained {
  std::vector<RankShare> by_rank;
  std::vector<Parts> by_group;  // s
};

template <std::size_t count>
void add_to(std::array<double, count>& sums, const std::array<double, count>& terms) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += terms[i];
}
void add_to(GroupTimes& sums, const GroupTimes& terms) {  // all that is summed over segments
  sums.seconds += terms.seconds;
  sums.durations += terms.durations;
  sums.has_excess = sums.has_excess || terms.has_excess;
  sums.usual_segments += terms.usual_segments;
  add_to(sums.usual, terms.usual);
  sums.usual_off_cpu += terms.usual_off_cpu;
  sums.usual_wait += terms.usual_wait;
}
void add_to(RankShare& sums, const RankShare& terms) {
  sums.seconds += terms.seconds;
  add_to(sums.kinds, terms.kinds);
  sums.off_cpu_seconds += terms.off_cpu_seconds;
  sums.waited_seconds += terms.waited_seconds;
  sums.slept_seconds += terms.slept_seconds;
}
template <class Sum>
void add_to(std::vector<Sum>& sums, const std::vector<Sum>& terms) {
  for (std::size_t i = 0; i < sums.size(); ++i) add_to(sums[i], terms[i]);
}
void add_to(Explained& sums, const Explained& terms) {
  add_to(sums.by_rank, terms.by_rank);
  add_to(sums.by_group, terms.by_group);
}

// Sums over all segments.
template <class Sums, class Work>
Sums sum_in_pieces(std::size_t segments, const Sums& zero, const Work& work) {
  Sums sums = zero;
  for (const Sums& piece : sums_of_pieces(segments, zero, work)) add_to(sums, piece);
  return sums;
}

// The largest absolute excess in the quarter of the group whose excess is nearest to zero.
double most_of_usual(std::span<const std::uint32_t> members, const std::vector<float>& excess) {
  std::vector<float> distances;
  distances.reserve(members.size());
  for (const std::uint32_t segment : members) distances.push_back(std::abs(excess[segment]));
  const auto last = static_cast<std::size_t>(usual_share * static_cast<double>(members.size() - 1));
  std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(last), distances.end());
  return static_cast<double>(distances[last]);
}

// How far a segment's parts are above the usual ones, or below them where its excess is negative. Their sum is at most
// the excess.
Parts explained(const Profile& profile, const Parts& usual, std::size_t segment, double excess) {
  Parts parts = parts_of(profile, segment);
  for (std::size_t part = 0; part < part_count; ++part) {
    const double beyond = parts[part] - usual[part];
    parts[part] = std::max(0.0, excess > 0.0 ? beyond : -beyond);
  }
  const double all = sum(parts);
  const double size = std::abs(excess);
  if (all > size) {
    for (double& part : parts) part *= size / all;
  }
  return parts;
}

// Divides what a segment lost beyond what it has `told` as is `typical` of its group, and then as what is left of the
// time that it spent: no part has lost more than it took. What it took less than usual is computation's.
Parts rest_of(const Parts& spent, const Parts& told, const Parts& typical, double seconds) {
  Parts rest{};
  Parts room{};
  for (std::size_t part = 0; part < part_count && seconds > 0.0; ++part) {
    room[part] = std::max(0.0, spent[part] - told[part]);
    rest[part] = std::min(typical[part] * seconds, room[part]);
    room[part] -= rest[part];
  }
  const double left = seconds - sum(rest);
  const double all_room = sum(room);
  if (left < 0.0 || all_room <= 0.0) {
    rest[computation_part] += left;
    return rest;
  }
  for (std::size_t part = 0; part < part_count; ++part) rest[part] += left * room[part] / all_room;
  return rest;
}

template <class Share>
void largest_first(std::vector<Share>& shares) {
  std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.seconds > b.seconds; });
}

// All groups at once, in the order of time: group by group, every group would walk through all columns.
std::vector<GroupTimes> times_of_groups(const Profile& profile, const Grouping& grouping,
                                        const std::vector<float>& excess) {
  const std::vector<GroupTimes> zero(grouping.groups.count);
  const std::vector<std::uint32_t>& group_of = grouping.groups.of;
  const auto add_excess = [&](std::vector<GroupTimes>& sums, std::size_t first, std::size_t end) {
    for (std::size_t segment = first; segment < end; ++segment) {
      GroupTimes& group = sums[group_of[segment]];
      const double seconds = static_cast<double>(excess[segment]);
      group.seconds += seconds;
      group.durations += static_cast<double>(profile.duration[segment]) - seconds;
      group.has_excess = group.has_excess || seconds != 0.0;
    }
  };
  std::vector<GroupTimes> groups = sum_in_pieces(excess.size(), zero, add_excess);
  for_each_in_parallel(groups.size(), [&](std::size_t group) {
    if (!groups[group].has_excess) return;
    groups[group].most_of_usual = most_of_usual(grouping.members(static_cast<std::uint32_t>(group)), excess);
  });
  const auto add_usual = [&](std::vector<GroupTimes>& sums, std::size_t first, std::size_t end) {
    for (std::size_t segment = first; segment < end; ++segment) {
      const GroupTimes& known = groups[group_of[segment]];
      if (!known.has_excess || std::abs(static_cast<double>(excess[segment])) > known.most_of_usual) continue;
      GroupTimes& group = sums[group_of[segment]];
      add_to(group.usual, parts_of(profile, segment));
      group.usual_off_cpu += off_cpu(profile, segment);
      group.usual_wait += lost_to_cpu_wait(profile, segment);
      group.usual_segments += 1.0;
    }
  };
  add_to(groups, sum_in_pieces(excess.size(), zero, add_usual));
  for (GroupTimes& group : groups) {
    if (!group.has_excess) continue;
    for (double& part : group.usual) part /= group.usual_segments;
    group.usual_off_cpu /= group.usual_segments;
    group.usual_wait /= group.usual_segments;
  }
  return groups;
}

void add_parts(SecondsByKind& kinds, const Parts& parts, double factor) {
  for (std::size_t part = 0; part < part_count; ++part) {
    kinds[static_cast<std::size_t>(kind_of(part))] += factor * parts[part];
  }
}
void add_parts(RankShare& rank, const Parts& parts, double factor) { add_parts(rank.kinds, parts, factor); }

std::vector<RankShare> nothing_of(std::size_t ranks) {
  std::vector<RankShare> by_rank(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) by_rank[rank].rank = static_cast<std::uint32_t>(rank);
  return by_rank;
}

// What remains of a segment's excess, with its sign, when what it explains by itself is taken off.
double unexplained(double seconds, const Parts& told) { return std::copysign(std::abs(seconds) - sum(told), seconds); }

// Divides the excess among the kinds of the rank that ended each segment. First comes what each segment explains by
// itself. That tells what is typical of its group, and the rest is divided by it.
std::vector<RankShare> divide_among_ranks(const Profile& profile, const Grouping& grouping,
                                          std::vector<GroupTimes>& groups, const std::vector<float>& excess) {
  const std::vector<std::uint32_t>& group_of = grouping.groups.of;
  std::vector<double> left(excess.size(), 0.0);
  const auto explain = [&](Explained& sums, std::size_t first, std::size_t end) {
    for (std::size_t segment = first; segment < end; ++segment) {
      const double seconds = static_cast<double>(excess[segment]);
      if (seconds == 0.0) continue;
      const GroupTimes& group = groups[group_of[segment]];
      RankShare& rank = sums.by_rank[profile.last_rank[segment]];
      const Parts parts = explained(profile, group.usual, segment, seconds);
      add_to(sums.by_group[group_of[segment]], parts);
      add_parts(rank, parts, std::copysign(1.0, seconds));
      rank.seconds += seconds;
      if (seconds > 0.0) {
        const double off = std::clamp(off_cpu(profile, segment) - group.usual_off_cpu, 0.0, seconds);
        rank.off_cpu_seconds += off;
        // What it lost in calls, it may have lost off the CPU.
        const double in_calls = sum(parts) - parts[computation_part];
        const double all_waits = lost_to_cpu_wait(profile, segment);
        rank.waited_seconds += std::clamp(all_waits, 0.0, seconds);
        const double waited = std::max(0.0, all_waits - group.usual_wait);
        rank.slept_seconds += std::clamp(off - in_calls - waited, 0.0, parts[computation_part]);
      }
      left[segment] = unexplained(seconds, parts);
    }
  };
  const std::vector<RankShare> nothing = nothing_of(static_cast<std::size_t>(profile.ranks));
  Explained sums = sum_in_pieces(excess.size(), Explained{nothing, std::vector<Parts>(groups.size())}, explain);
  for (std::size_t group = 0; group < groups.size(); ++group) groups[group].typical = sums.by_group[group];
  for (GroupTimes& group : groups) {
    const double all = sum(group.typical);
    for (double& part : group.typical) part /= all > 0.0 ? all : 1.0;
  }
  const auto divide_rest = [&](std::vector<RankShare>& by_rank, std::size_t first, std::size_t end) {
    for (std::size_t segment = first; segment < end; ++segment) {
      if (left[segment] == 0.0) continue;
      const GroupTimes& group = groups[group_of[segment]];
      const Parts told = explained(profile, group.usual, segment, static_cast<double>(excess[segment]));
      add_parts(by_rank[profile.last_rank[segment]],
                rest_of(parts_of(profile, segment), told, group.typical, left[segment]), 1.0);
    }
  };
  add_to(sums.by_rank, sum_in_pieces(excess.size(), nothing, divide_rest));
  return std::move(sums.by_rank);
}

// The excess by window of time. The excess of a segment is spread evenly over its duration.
struct Windows {
  std::array<double, window_count> seconds{};  // of excess
  double length = 0.0;                         // s
};

Windows divide_time(const Profile& profile, const std::vector<float>& excess) {
  const PartsByTime parts{.seconds = times_of(profile).length(), .count = window_count};
  Windows windows{.length = parts.length()};
  along_time(times_of(profile), [&](std::size_t segment, double begin, double duration) {
    const double seconds = static_cast<double>(excess[segment]);
    if (seconds != 0.0) spread_evenly(parts, begin, duration, seconds, windows.seconds);
  });
  return windows;
}

}  // namespace

Breakdown attribute(const Profile& profile, const Grouping& grouping, const std::vector<float>& excess) {
  Breakdown breakdown;
  // In a thread of its own: it shares nothing with the rest.
  std::future<Windows> windows = std::async(divide_time, std::cref(profile), std::cref(excess));
  std::vector<GroupTimes> groups = times_of_groups(profile, grouping, excess);
  const std::vector<RankShare> by_rank = divide_among_ranks(profile, grouping, groups, excess);
  const Windows divided = windows.get();
  breakdown.windows = divided.seconds;
  breakdown.window_seconds = divided.length;
  for (std::uint32_t number = 0; number < grouping.groups.count; ++number) {
    const GroupTimes& group = groups[number];
    if (!group.has_excess) continue;
    const std::span<const std::uint32_t> members = grouping.members(number);
    breakdown.seconds += group.seconds;
    breakdown.groups.push_back(
        {.group = number,
         .site = profile.sites[site_of(profile, members.front())],
         .segments = members.size(),
         .baseline_seconds = std::max(0.0, group.durations) / static_cast<double>(members.size()),
         .seconds = group.seconds});
  }
  largest_first(breakdown.groups);
  for (std::size_t i = most_groups_told; i < breakdown.groups.size(); ++i) {
    ++breakdown.other_groups;
    breakdown.other_groups_seconds += breakdown.groups[i].seconds;
  }
  breakdown.groups.resize(std::min(breakdown.groups.size(), most_groups_told));

  std::map<std::string, double> by_host;
  double off_cpu_seconds = 0.0;
  for (const RankShare& rank : by_rank) {
    if (rank.kinds == SecondsByKind{}) continue;
    for (std::size_t i = 0; i < excess_kind_count; ++i) breakdown.kinds[i] += rank.kinds[i];
    if (!profile.rank_host[rank.rank].empty()) by_host[profile.rank_host[rank.rank]] += rank.seconds;
    off_cpu_seconds += rank.off_cpu_seconds;
    breakdown.ranks.push_back(rank);
  }
  largest_first(breakdown.ranks);
  for (const auto& [host, seconds] : by_host) breakdown.hosts.push_back({host, seconds});
  largest_first(breakdown.hosts);
  if (!profile.last_rank_off_cpu.empty()) breakdown.off_cpu_seconds = off_cpu_seconds;
  return breakdown;
}

void for_each_divided(const Profile& profile, const Grouping& grouping, const std::vector<float>& excess,
                      const std::function<void(std::size_t segment, const SecondsByKind& kinds)>& visit) {
  std::vector<GroupTimes> groups = times_of_groups(profile, grouping, excess);
  divide_among_ranks(profile, grouping, groups, excess);  // tells what is typical of each group
  for (std::size_t segment = 0; segment < excess.size(); ++segment) {
    const double seconds = static_cast<double>(excess[segment]);
    if (seconds == 0.0) continue;
    const GroupTimes& group = groups[grouping.groups.of[segment]];
    const Parts told = explained(profile, group.usual, segment, seconds);
    SecondsByKind kinds{};
    add_parts(kinds, told, std::copysign(1.0, seconds));
    add_parts(kinds, rest_of(parts_of(profile, segment), told, group.typical, unexplained(seconds, told)), 1.0);
    visit(segment, kinds);
  }
}

SecondsByKind time_spent(const Profile& profile) {
  const auto add_spent = [&](SecondsByKind& spent, std::size_t first, std::size_t end) {
    for (std::size_t segment = first; segment < end; ++segment) {
      const Parts parts = parts_of(profile, segment);
      for (std::size_t part = 0; part < part_count; ++part) {
        spent[static_cast<std::size_t>(kind_of(part))] += parts[part];
      }
    }
  };
  return sum_in_pieces(profile.duration.size(), SecondsByKind{}, add_spent);
}

}  // namespace halcyon
