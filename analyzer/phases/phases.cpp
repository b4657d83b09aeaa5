#include "analyzer/phases/phases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/groups/timeline.hpp"
#include "analyzer/statistics/levels.hpp"
#include "libprofile/format/boundary.hpp"

namespace halcyon {
namespace {

constexpr double least_of_largest = 0.5;  // what one holds who is told with the one who holds most

// Numerics: the blocks that stretches are made of.
constexpr std::size_t most_compared = 500'000;  // segments
constexpr double most_blocks = 256.0;
constexpr std::size_t reach_of_edge = 2;  // blocks

// The interval with the largest sum (J. Bentley, "Programming pearls", Comm. ACM 27, 1984): of nine tenths of what
// known segments usually take, less a tenth of what they took beyond and of the time of others. A known segment counts
// for no less than 0: no disturbance, however large, divides the work.
std::optional<Stretch> repeated_part(const Profile& profile, const UsualTimes& times) {
  Stretch part;
  double largest = 0.0;
  double known_of_part = 0.0;
  double lead = 0.0;    // of known time in the best interval that ends here
  double known = 0.0;   // of the run so far
  double before = 0.0;  // the known time when the best interval that ends here began
  std::size_t begin = 0;
  constexpr double rare = 1.0 - nearly_whole;
  for (std::size_t segment = 0; segment < profile.duration.size(); ++segment) {
    const auto duration = static_cast<double>(profile.duration[segment]);
    const double usual = std::min(duration, static_cast<double>(times.usual[segment]));
    known += usual;
    lead += usual > 0.0 ? std::max(nearly_whole * usual - rare * (duration - usual), 0.0) : -rare * duration;
    if (lead < 0.0) {
      lead = 0.0;
      before = known;
      begin = segment + 1;
    } else if (lead >= largest) {
      largest = lead;
      known_of_part = known - before;
      part = {begin, segment + 1};
    }
  }
  const bool is_most = known > 0.0 && 2.0 * known_of_part >= known;
  return is_most ? std::optional(part) : std::nullopt;
}

// A segment that is compared along the run.
struct Compared {
  std::uint32_t segment;
  float usual;     // s
  float relative;  // duration in units of that
};

// How many segments of the part each compared one stands for.
std::size_t segments_for_each(Stretch part) { return 1 + part.size() / most_compared; }

// Of many, some are enough. Multiples of the golden ratio choose them evenly, and with no period that a program could
// have, too.
std::vector<Compared> compared_segments(const Profile& profile, const UsualTimes& times, Stretch part) {
  constexpr std::uint32_t golden_ratio = 2'654'435'769;  // Numerics: 2^32 / phi, odd
  const std::uint64_t kept_below = (std::uint64_t{1} << 32) / segments_for_each(part);
  std::vector<Compared> compared;
  for (auto segment = static_cast<std::uint32_t>(part.begin); segment < part.end; ++segment) {
    if (segment * golden_ratio >= kept_below) continue;
    const float usual = times.usual[segment];
    if (usual > 0.0F && profile.duration[segment] > 0.0F)
      compared.push_back({segment, usual, profile.duration[segment] / usual});
  }
  return compared;
}

// The relative duration that this share of the work stays below.
double quantile_by_work(std::span<const Compared> segments, double share) {
  std::vector<Compared> ascending(segments.begin(), segments.end());
  std::ranges::sort(ascending, {}, &Compared::relative);
  double left = 0.0;
  for (const Compared& one : ascending) left += share * static_cast<double>(one.usual);
  for (const Compared& one : ascending) {
    left -= static_cast<double>(one.usual);
    if (left <= 0.0) return static_cast<double>(one.relative);
  }
  return static_cast<double>(ascending.back().relative);
}

// Parts that have about the same share of the work and of the time together: many short segments do not hide what
// happens to others, and a slow stretch has half as many parts as of the time, or more.
struct Blocks {
  std::vector<std::size_t> begins{0};  // (blocks + 1) the first compared segment of each, and their number
  std::vector<double> levels;          // logarithms of medians
};

Blocks blocks_of(const std::vector<Compared>& compared) {
  double work = 0.0;
  double time = 0.0;
  for (const Compared& one : compared) {
    work += static_cast<double>(one.usual);
    time += static_cast<double>(one.usual * one.relative);
  }
  Blocks blocks;
  double share = 0.0;  // of both, of 2
  for (std::size_t at = 0; at < compared.size(); ++at) {
    const auto usual = static_cast<double>(compared[at].usual);
    share += usual / work + usual * static_cast<double>(compared[at].relative) / time;
    const bool is_last = at + 1 == compared.size();
    if (!is_last && share * most_blocks < 2.0 * static_cast<double>(blocks.begins.size())) continue;
    blocks.begins.push_back(at + 1);
  }
  for (std::size_t block = 0; block + 1 < blocks.begins.size(); ++block) {
    const std::size_t begin = blocks.begins[block];
    blocks.levels.push_back(
        std::log(quantile_by_work(std::span(compared).subspan(begin, blocks.begins[block + 1] - begin), 0.5)));
  }
  return blocks;
}

double size_of(double factor) { return std::max(factor, 1.0 / factor); }

// Joins neighbours until all differ enough, those that differ least first.
std::vector<OneLevel> distinct(std::vector<OneLevel> stretches, double least_factor) {
  const auto difference = [&stretches](std::size_t i) { return std::abs(stretches[i].level - stretches[i + 1].level); };
  while (stretches.size() > 1) {
    std::size_t least = 0;
    for (std::size_t i = 1; i + 1 < stretches.size(); ++i) {
      if (difference(i) < difference(least)) least = i;
    }
    if (difference(least) >= std::log(least_factor)) break;
    OneLevel& first = stretches[least];
    const OneLevel& second = stretches[least + 1];
    const auto of_first = static_cast<double>(first.stretch.size());
    const auto of_second = static_cast<double>(second.stretch.size());
    first.level = (of_first * first.level + of_second * second.level) / (of_first + of_second);
    first.stretch.end = second.stretch.end;
    stretches.erase(stretches.begin() + static_cast<std::ptrdiff_t>(least) + 1);
  }
  return stretches;
}

// A stretch between changes.
struct LevelStretch {
  std::span<const Compared> segments;
  double work = 0.0;   // s, what they usually take
  double most = 0.0;   // relative duration that a segment counts for
  double level = 1.0;  // their duration together, relative to that
};

// A segment counts for no more than twice what nine tenths of the work stay below: rare long delays are no part of a
// level.
LevelStretch level_stretch(std::span<const Compared> segments) {
  LevelStretch stretch{.segments = segments, .most = 2.0 * quantile_by_work(segments, 0.9)};
  double seconds = 0.0;
  for (const Compared& one : segments) {
    stretch.work += static_cast<double>(one.usual);
    seconds += static_cast<double>(one.usual) * std::min(stretch.most, static_cast<double>(one.relative));
  }
  stretch.level = seconds / stretch.work;
  return stretch;
}

// The first compared segment of the second of two neighbours: most segments before it are on the first one's side of
// the middle of both levels, and most from it on are on the other side.
std::size_t edge_between(const std::vector<Compared>& compared, const Blocks& blocks, const OneLevel& a,
                         const OneLevel& b, std::size_t last) {
  const std::size_t edge = b.stretch.begin;
  const std::size_t first_block = std::max(a.stretch.begin, edge > reach_of_edge ? edge - reach_of_edge : 0);
  const std::size_t from = std::max(last + 1, blocks.begins[first_block]);
  const std::size_t to = blocks.begins[std::min(b.stretch.end, edge + reach_of_edge)];
  const double middle = std::exp(0.5 * (a.level + b.level));
  const double direction = b.level > a.level ? 1.0 : -1.0;
  double lead = 0.0;
  double largest = -std::numeric_limits<double>::infinity();
  std::size_t best = from;
  for (std::size_t at = from; at < to; ++at) {
    if (lead > largest) {
      largest = lead;
      best = at;
    }
    lead += (static_cast<double>(compared[at].relative) > middle ? -1.0 : 1.0) * direction;
  }
  return best;
}

std::vector<LevelStretch> stretches_of(const std::vector<Compared>& compared, const Blocks& blocks,
                                       double least_factor) {
  const std::size_t count = blocks.levels.size();
  std::vector<OneLevel> levels{{{0, count}, 0.0}};
  if (compared.size() >= fewest_judged_segments) levels = distinct(stretches_of_one_level(blocks.levels), least_factor);
  std::vector<LevelStretch> stretches;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool is_last = i + 1 == levels.size();
    const std::size_t end = is_last ? compared.size() : edge_between(compared, blocks, levels[i], levels[i + 1], begin);
    stretches.push_back(level_stretch(std::span(compared).subspan(begin, end - begin)));
    begin = end;
  }
  return stretches;
}

struct UsualLevel {
  double level = 1.0;
  bool dominant = false;
};

// The level that most of the work was done at, or else the lowest that lasts.
UsualLevel usual_level(const std::vector<LevelStretch>& stretches, double least_factor) {
  double all = 0.0;
  double most = 0.0;
  UsualLevel usual;
  for (const LevelStretch& one : stretches) {
    all += one.work;
    double work = 0.0;
    double seconds = 0.0;
    for (const LevelStretch& other : stretches) {
      if (size_of(one.level / other.level) >= least_factor) continue;
      work += other.work;
      seconds += other.work * other.level;
    }
    if (work > most) usual.level = seconds / work;
    most = std::max(most, work);
  }
  usual.dominant = most > 0.5 * all;
  if (usual.dominant) return usual;
  for (const LevelStretch& one : stretches) {
    if (one.work >= (1.0 - nearly_whole) * all) usual.level = std::min(usual.level, one.level);
  }
  return usual;
}

// Those who hold about as much as the one who holds most; none if they hold less than most of the sum, or are more than
// half of all.
template <class Key>
std::vector<Key> few_that_hold_most(const std::map<Key, double>& seconds, std::size_t all) {
  double sum = 0.0;
  double largest = 0.0;
  for (const auto& [key, value] : seconds) {
    sum += value;
    largest = std::max(largest, value);
  }
  std::vector<Key> few;
  double held = 0.0;
  for (const auto& [key, value] : seconds) {
    if (value < least_of_largest * largest) continue;
    few.push_back(key);
    held += value;
  }
  const bool are_few = 2.0 * held > sum && 2 * few.size() <= all;
  return are_few ? few : std::vector<Key>{};
}

// Which ranks and hosts held the others up, by the added time of each.
void set_who(LevelChange& change, const Profile& profile, const std::map<std::uint32_t, double>& by_rank) {
  std::map<std::string, double> by_host;
  for (const auto& [rank, seconds] : by_rank) {
    if (!profile.rank_host[rank].empty()) by_host[profile.rank_host[rank]] += seconds;
  }
  change.ranks = few_that_hold_most(by_rank, static_cast<std::size_t>(profile.ranks));
  if (change.ranks.empty()) {
    change.hosts = few_that_hold_most(by_host, profile.hosts().size());
    return;
  }
  for (const std::uint32_t rank : change.ranks) {
    const std::string& host = profile.rank_host[rank];
    if (!host.empty() && std::ranges::find(change.hosts, host) == change.hosts.end()) change.hosts.push_back(host);
  }
}

// `usual`: level.
LevelChange change_of(const LevelStretch& stretch, double usual, const Profile& profile, const UsualTimes& times) {
  LevelChange change{.factor = stretch.level / usual, .added_seconds = (stretch.level - usual) * stretch.work};
  std::map<std::uint32_t, double> by_rank;
  double slow = 0.0;
  for (const Compared& one : stretch.segments) {
    const double beyond = std::min(stretch.most, static_cast<double>(one.relative)) - usual;
    if (beyond > 0.0) by_rank[profile.last_rank[one.segment]] += beyond * static_cast<double>(one.usual);
    slow += times.slow.empty() ? 0.0 : static_cast<double>(times.slow[one.segment]);
  }
  change.may_be_work = slow > 0.0 && 2.0 * slow >= std::abs(change.added_seconds);
  if (change.factor > 1.0) set_who(change, profile, by_rank);
  return change;
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

std::optional<Phases> find_phases(const Profile& profile, const UsualTimes& times, const LeastChange& least) {
  const std::optional<Stretch> part = repeated_part(profile, times);
  if (!part) return std::nullopt;
  const std::vector<Compared> compared = compared_segments(profile, times, *part);
  if (compared.empty()) return std::nullopt;
  const Blocks blocks = blocks_of(compared);
  const std::vector<LevelStretch> stretches = stretches_of(compared, blocks, least.factor);

  // A stretch ends with its last compared segment: what comes before the next one may be other work.
  std::vector<std::size_t> segments{part->begin};
  for (const LevelStretch& stretch : stretches) {
    segments.push_back(stretch.segments.front().segment);
    segments.push_back(stretch.segments.back().segment + 1);
  }
  segments.push_back(part->end);
  segments.push_back(profile.duration.size());
  const std::vector<double> begins = begins_of(profile, segments);

  const UsualLevel usual = usual_level(stretches, least.factor);
  Phases phases{.dominant = usual.dominant,
                .stable_from_seconds = begins.front(),
                .stable_to_seconds = begins[begins.size() - 2],
                .end_seconds = begins.back()};
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    LevelChange change = change_of(stretches[i], usual.level, profile, times);
    change.added_seconds *= static_cast<double>(segments_for_each(*part));
    const bool is_told = change.factor > 0.0 && size_of(change.factor) >= least.factor &&
                         std::abs(change.added_seconds) >= least.share * phases.end_seconds;
    if (!is_told) continue;
    change.from_seconds = begins[2 * i + 1];
    change.to_seconds = begins[2 * i + 2];
    phases.changes.push_back(std::move(change));
  }
  return phases;
}

}  // namespace halcyon
