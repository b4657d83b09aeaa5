#include "analyzer/phases/phases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "analyzer/groups/timeline.hpp"
#include "analyzer/phases/common_groups.hpp"
#include "analyzer/phases/edm.hpp"
#include "analyzer/phases/rank_splits.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr std::size_t blocks_by_count = 256;
constexpr double longest_block = 2.0;        // of the mean length of blocks by count
constexpr std::size_t fewest_compared = 30;  // with fewer, Pilot keeps everything, too
// Of a pair of blocks, one at each level, the one at the higher level must be longer with this probability. Levels that
// overlap more are no two levels.
constexpr double least_superiority = 0.8;
constexpr double least_share_of_lowest_level = 0.1;
// Ranks or hosts that hold most of the added time are told if they are at most half of all.
constexpr double most_of_added = 2.0 / 3.0;
constexpr double least_of_alike = 0.5;  // who holds so much of what the one before holds, is told with it
constexpr std::size_t sample_of_ranks = 4096;
constexpr std::size_t reach_of_edge = 2;  // blocks

/// A stretch of blocks with one level.
struct LevelStretch {
  Stretch blocks;
  double level = 1.0;  // median over its blocks
  std::vector<GroupLevel> groups;
};

/// The compared segments in blocks, and the level of each block.
struct PhaseBlocks {
  const ComparedSegments& compared;
  std::vector<std::size_t> begins;  // (blocks + 1) the first segment of each, and the number of segments
  std::vector<double> levels;

  Stretch segments(Stretch blocks) const { return {begins[blocks.begin], begins[blocks.end]}; }
  std::span<const double> levels_of(Stretch blocks) const {
    return std::span(levels).subspan(blocks.begin, blocks.size());
  }
  LevelStretch stretch(Stretch blocks) const {
    const std::span<const double> part = levels_of(blocks);
    std::vector<double> values(part.begin(), part.end());
    return {blocks, median_in_place(values), compared.group_levels(segments(blocks))};
  }
};

// Blocks have the same number of segments. But one that takes more than twice as long as others ends earlier: a slow
// stretch of few segments then has at least half as many blocks as it has of the time. Time is in units of baselines:
// so blocks of a level have about as many segments, whatever their work is, and their levels are as sure.
PhaseBlocks phase_blocks_of(const ComparedSegments& compared) {
  const std::size_t size = compared.size();
  double whole = 0.0;
  for (std::size_t at = 0; at < size; ++at) whole += compared.relative(at);
  PhaseBlocks blocks{.compared = compared, .begins = {0}, .levels = {}};
  double length = 0.0;
  for (std::size_t at = 0; at < size; ++at) {
    length += compared.relative(at);
    const std::size_t count = at + 1 - blocks.begins.back();
    const bool is_long = count >= fewest_for_median && length > 0.0 &&
                         static_cast<double>(blocks_by_count) * length >= longest_block * whole;
    if (!is_long && blocks_by_count * count < size) continue;
    blocks.begins.push_back(at + 1);
    length = 0.0;
  }
  // What is left over is too little for a block.
  if (blocks.begins.back() < size) blocks.begins.back() = size;
  for (std::size_t block = 0; block + 1 < blocks.begins.size(); ++block) {
    blocks.levels.push_back(compared.level(blocks.segments({block, block + 1})));
  }
  return blocks;
}

std::vector<std::size_t> change_points(std::span<const double> levels, ChangeMethod method) {
  switch (method) {
    case ChangeMethod::ranks: break;
    case ChangeMethod::edm: return edm_percent(levels);
    case ChangeMethod::edm_multi: return edm_multi(levels);
  }
  return rank_splits(levels);
}

// The level of `a` in units of that of `b`. Nothing if they did other work.
std::optional<double> factor_between(const LevelStretch& a, const LevelStretch& b) {
  const std::vector<CommonGroup> common = common_groups(a.groups, b.groups);
  return common.empty() ? std::nullopt : std::optional(factor_of(common));
}

double size_of(double factor) { return std::max(factor, 1.0 / factor); }

// Joins neighbours until all differ enough, those that differ least first. Of other work, it is only known how far it
// is from its own baselines. If that is about as far, nothing says that the level changed.
std::vector<LevelStretch> distinct_stretches(const PhaseBlocks& blocks, std::span<const std::size_t> changes,
                                             double least_factor) {
  std::vector<LevelStretch> stretches;
  for (const Stretch& part : stretches_between(changes, blocks.levels.size())) {
    stretches.push_back(blocks.stretch(part));
  }
  const auto difference = [&blocks](const LevelStretch& a, const LevelStretch& b) {
    const double above = superiority(blocks.levels_of(a.blocks), blocks.levels_of(b.blocks));
    return std::max(above, 1.0 - above) < least_superiority ? 1.0
                                                            : size_of(factor_between(b, a).value_or(b.level / a.level));
  };
  std::vector<double> differences;  // of each and the next
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    differences.push_back(difference(stretches[i], stretches[i + 1]));
  }
  while (!differences.empty()) {
    const auto least = std::min_element(differences.begin(), differences.end());
    if (*least >= least_factor) break;
    const auto at = static_cast<std::size_t>(least - differences.begin());
    stretches[at] = blocks.stretch({stretches[at].blocks.begin, stretches[at + 1].blocks.end});
    stretches.erase(stretches.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    differences.erase(least);
    if (at > 0) differences[at - 1] = difference(stretches[at - 1], stretches[at]);
    if (at < differences.size()) differences[at] = difference(stretches[at], stretches[at + 1]);
  }
  return stretches;
}

std::vector<std::size_t> changes_between(const std::vector<LevelStretch>& stretches) {
  std::vector<std::size_t> changes;
  for (std::size_t i = 1; i < stretches.size(); ++i) changes.push_back(stretches[i].blocks.begin);
  return changes;
}

// Change points that were taken back may have held others off their places.
std::vector<LevelStretch> in_best_places(const PhaseBlocks& blocks, const std::vector<LevelStretch>& stretches) {
  std::vector<std::size_t> changes = changes_between(stretches);
  move_to_best_places(blocks.levels, changes);
  std::vector<LevelStretch> placed;
  for (const Stretch& part : stretches_between(changes, blocks.levels.size())) placed.push_back(blocks.stretch(part));
  return placed;
}

struct UsualLevel {
  std::size_t stretch = 0;  // that has it
  bool dominant = false;
};

// Pilot's rule; or the level that most segments have, in several stretches, if fewer are known to be at other levels;
// or the lowest level that lasts.
UsualLevel usual_level(const PhaseBlocks& blocks, const std::vector<LevelStretch>& stretches, double least_factor) {
  std::vector<std::size_t> sizes;    // of the stretches, in segments
  std::vector<std::size_t> changes;  // where each but the first begins, in segments
  for (const LevelStretch& stretch : stretches) {
    const Stretch segments = blocks.segments(stretch.blocks);
    if (segments.begin > 0) changes.push_back(segments.begin);
    sizes.push_back(segments.size());
  }
  if (const std::optional<Stretch> dominant = dominant_stretch(changes, blocks.compared.size())) {
    const auto place = std::find(sizes.begin(), sizes.end(), dominant->size());
    return {static_cast<std::size_t>(place - sizes.begin()), true};
  }
  std::vector<std::size_t> longest_first(stretches.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&sizes](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  UsualLevel usual{longest_first.front(), false};
  std::size_t most = 0;
  for (const std::size_t one : longest_first) {
    std::size_t at_level = 0;
    std::size_t at_others = 0;
    for (std::size_t other = 0; other < stretches.size(); ++other) {
      const std::optional<double> factor = factor_between(stretches[other], stretches[one]);
      if (factor) (size_of(*factor) < least_factor ? at_level : at_others) += sizes[other];
    }
    if (at_level <= most) continue;
    most = at_level;
    usual = {one, at_level > at_others};
  }
  if (usual.dominant) return usual;
  const double least_size = least_share_of_lowest_level * static_cast<double>(blocks.compared.size());
  for (const std::size_t one : longest_first) {
    if (static_cast<double>(sizes[one]) < least_size) continue;
    if (factor_between(stretches[one], stretches[usual.stretch]).value_or(1.0) < 1.0) usual.stretch = one;
  }
  return usual;
}

// The first compared segment of the second of two neighbours: so that most segments before it are on the first one's
// side of the middle of both levels, and most from it on are on the other side.
// `last`: the edge before. Blocks of one segment are exact already.
std::size_t edge_between(const PhaseBlocks& blocks, const LevelStretch& a, const LevelStretch& b, std::size_t last) {
  const std::size_t edge = b.blocks.begin;
  if (blocks.compared.size() == blocks.levels.size()) return edge;
  const std::size_t first_block = std::max(a.blocks.begin, edge > reach_of_edge ? edge - reach_of_edge : 0);
  const std::size_t from = std::max(last + 1, blocks.begins[first_block]);
  const std::size_t to = blocks.begins[std::min(b.blocks.end, edge + reach_of_edge)];
  const double middle = std::sqrt(a.level * b.level);
  const double direction = b.level > a.level ? 1.0 : -1.0;
  double lead = 0.0;
  double largest = -std::numeric_limits<double>::infinity();
  std::size_t best = from;
  for (std::size_t at = from; at < to; ++at) {
    if (lead > largest) {
      largest = lead;
      best = at;
    }
    lead += (blocks.compared.relative(at) > middle ? -1.0 : 1.0) * direction;
  }
  return best;
}

// (stretches + 1) where the stretches begin, in compared segments, and the number of these.
std::vector<std::size_t> edges_of(const PhaseBlocks& blocks, const std::vector<LevelStretch>& stretches) {
  std::vector<std::size_t> edges{0};
  for (std::size_t i = 1; i < stretches.size(); ++i) {
    edges.push_back(edge_between(blocks, stretches[i - 1], stretches[i], edges.back()));
  }
  edges.push_back(blocks.compared.size());
  return edges;
}

// The fewest that hold most of the sum, and those who hold about as much; none if they are more than half of all.
template <class Key>
std::vector<Key> few_that_hold_most(const std::map<Key, double>& seconds, std::size_t all) {
  std::vector<std::pair<double, Key>> largest_first;
  double sum = 0.0;
  for (const auto& [key, value] : seconds) {
    largest_first.emplace_back(value, key);
    sum += value;
  }
  std::sort(largest_first.begin(), largest_first.end(), std::greater<>());
  std::vector<Key> few;
  double held = 0.0;
  double last = 0.0;
  for (const auto& [value, key] : largest_first) {
    if (held >= most_of_added * sum && value < least_of_alike * last) break;
    few.push_back(key);
    held += value;
    last = value;
  }
  if (2 * few.size() > all) return {};
  std::sort(few.begin(), few.end());
  return few;
}

// Which ranks and hosts held the others up in the added time.
void add_who(LevelChange& change, const Profile& profile, const ComparedSegments& compared, Stretch segments,
             std::span<const CommonGroup> common) {
  std::map<std::uint32_t, double> by_rank;
  std::map<std::string, double> by_host;
  for (const std::size_t at : ComparedSegments::sample(segments, sample_of_ranks)) {
    const CommonGroup* group = find_group(common, compared.group(at));
    if (group == nullptr) continue;
    const double added = std::max(group->beyond(compared.relative(at)), 0.0) * compared.baseline(at);
    const std::uint32_t rank = profile.last_rank[compared.segment(at)];
    by_rank[rank] += added;
    if (!profile.rank_host[rank].empty()) by_host[profile.rank_host[rank]] += added;
  }
  change.ranks = few_that_hold_most(by_rank, static_cast<std::size_t>(profile.ranks));
  if (change.ranks.empty()) {
    change.hosts = few_that_hold_most(by_host, profile.hosts().size());
    return;
  }
  for (const std::uint32_t rank : change.ranks) {
    const std::string& host = profile.rank_host[rank];
    const bool is_new = std::find(change.hosts.begin(), change.hosts.end(), host) == change.hosts.end();
    if (is_new && !host.empty()) change.hosts.push_back(host);
  }
}

// When the segments begin, in s; that of the number of segments is the end of the run. `segments`: ascending.
std::vector<double> begins_of(const Profile& profile, std::span<const std::size_t> segments) {
  std::vector<double> begins;
  const TimesOfSegments times = times_of(profile);
  double end = 0.0;  // of the segment before
  std::size_t from = 0;
  for (const std::size_t segment : segments) {
    end += times.from(from, segment).length();
    from = segment;
    begins.push_back(end + (segment < profile.segments ? times.gap(segment) : 0.0));
  }
  return begins;
}

}  // namespace

std::optional<Phases> find_phases(const Profile& profile, const Grouping& grouping, const GroupBaselines& baselines,
                                  const LeastChange& least, ChangeMethod method) {
  const std::optional<Stretch> part = repeated_part(profile, grouping, baselines);
  if (!part) return std::nullopt;
  const ComparedSegments compared(profile, grouping, baselines, *part);
  if (compared.size() == 0) return std::nullopt;
  const PhaseBlocks blocks = phase_blocks_of(compared);
  const bool are_few = compared.size() < fewest_compared;
  const std::vector<std::size_t> changes = are_few ? std::vector<std::size_t>() : change_points(blocks.levels, method);
  std::vector<LevelStretch> stretches = distinct_stretches(blocks, changes, least.factor);
  if (method == ChangeMethod::ranks) stretches = in_best_places(blocks, stretches);

  const std::vector<std::size_t> edges = edges_of(blocks, stretches);
  // A stretch ends with its last compared segment: what comes before the next one may be other work.
  std::vector<std::size_t> segments{part->begin};
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    segments.push_back(compared.segment(edges[i]));
    segments.push_back(compared.segment(edges[i + 1] - 1) + 1);
  }
  segments.push_back(part->end);
  segments.push_back(profile.duration.size());
  const std::vector<double> begins = begins_of(profile, segments);

  const UsualLevel usual = usual_level(blocks, stretches, least.factor);
  Phases phases{.method = method,
                .dominant = usual.dominant,
                .stable_from_seconds = begins.front() - first_repetitions_before(profile, grouping, baselines, *part),
                .stable_to_seconds = begins[begins.size() - 2],
                .end_seconds = begins.back()};
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::vector<CommonGroup> common = common_groups(stretches[i].groups, stretches[usual.stretch].groups);
    const LevelCost cost = cost_of(compared, {edges[i], edges[i + 1]}, common);
    const double factor = cost.factor();
    // Other work, and segments that take no time, have no factor.
    const bool is_told = factor > 0.0 && std::isfinite(factor) && size_of(factor) >= least.factor &&
                         std::abs(cost.beyond_seconds) >= least.share * phases.end_seconds;
    if (!is_told) continue;
    LevelChange change{.from_seconds = begins[2 * i + 1],
                       .to_seconds = begins[2 * i + 2],
                       .factor = factor,
                       .added_seconds = cost.beyond_seconds};
    if (factor > 1.0) add_who(change, profile, compared, {edges[i], edges[i + 1]}, common);
    phases.changes.push_back(std::move(change));
  }
  return phases;
}

}  // namespace halcyon
