#include "analyzer/groups/slowness.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "analyzer/groups/timeline.hpp"
#include "analyzer/statistics/in_parallel.hpp"
#include "analyzer/statistics/parabola.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr Eigen::Index fewest_in_block = 15;  // for a lower quartile worth its name
constexpr Eigen::Index fewest_blocks = 6;     // with fewer, no order means anything
constexpr Eigen::Index blocks_of_changes = 48;
constexpr double least_explained_by_time = 0.8;  // of the variance between blocks
constexpr double significance_of_changes = 1e-3;
constexpr double most_spread = 1.25;  // relative spread around raised levels against that around others
constexpr double most_von_neumann_of_few =
    1.0;  // of squared steps over squared deviations; 2 where order means nothing

double residual_of_best_step(const Durations& levels) {
  double best = (levels - levels.mean()).square().sum();
  for (Eigen::Index at = 1; at < levels.size(); ++at) {
    const auto before = levels.head(at);
    const auto after = levels.tail(levels.size() - at);
    best = std::min(best, (before - before.mean()).square().sum() + (after - after.mean()).square().sum());
  }
  return best;
}

// The first segment of a block.
Eigen::Index block_begin(Eigen::Index size, Eigen::Index blocks, Eigen::Index block) {
  const PartsByCount parts{.segments = static_cast<std::size_t>(size), .count = static_cast<std::size_t>(blocks)};
  return static_cast<Eigen::Index>(parts.begin(static_cast<std::size_t>(block)));
}

// Equal parts of the run by number of segments, each with enough of them for a level of its own.
struct Blocks {
  Durations levels;  // s, lower quartiles
  Durations times;   // of their middles, from -1 to 1
};

std::optional<Blocks> blocks_of(const Durations& durations, Eigen::Index most_blocks,
                                Eigen::Index fewest = fewest_in_block) {
  const Eigen::Index size = durations.size();
  const Eigen::Index count = std::min(most_blocks, size / fewest);
  if (count < fewest_blocks) return std::nullopt;
  Blocks blocks{.levels = Durations(count), .times = Durations(count)};
  const auto describe = [&](std::size_t number) {
    const auto block = static_cast<Eigen::Index>(number);
    const Eigen::Index from = block_begin(size, count, block);
    const Eigen::Index to = block_begin(size, count, block + 1);
    blocks.levels[block] = lower_quartile(durations.segment(from, to - from));
    blocks.times[block] = static_cast<double>(from + to) / static_cast<double>(size) - 1.0;
  };
  // Starting threads takes as long as some ten thousand segments.
  constexpr Eigen::Index worth_threads = 1'000'000;
  if (size >= worth_threads) {
    for_each_in_parallel(static_cast<std::size_t>(count), describe);
  } else {
    for (std::size_t block = 0; block < static_cast<std::size_t>(count); ++block) describe(block);
  }
  return blocks;
}

// The median deviation in each of so many blocks, s.
Durations spreads_of(const Durations& durations, Eigen::Index count) {
  Durations spreads(count);
  for (Eigen::Index block = 0; block < count; ++block) {
    const Eigen::Index from = block_begin(durations.size(), count, block);
    const Eigen::Index to = block_begin(durations.size(), count, block + 1);
    const Durations members = durations.segment(from, to - from);
    spreads[block] = median((members - median(members)).abs());
  }
  return spreads;
}

// The sampling variance of a lower quartile of m normal values of standard deviation s is p (1 - p) / (m f^2) =
// 1.857 s^2 / m. Their median deviation is 0.6745 s.
double sampling_variance(const Durations& spreads, Eigen::Index size) {
  const double deviation = median(spreads) / 0.6745;
  return 1.857 * deviation * deviation * static_cast<double>(spreads.size()) / static_cast<double>(size);
}

// Whether levels change slowly, and not in one step.
bool change_slowly(const Durations& levels, double most_von_neumann) {
  const Eigen::Index count = levels.size();
  const double variation = (levels - levels.mean()).square().sum();
  const double steps = (levels.tail(count - 1) - levels.head(count - 1)).square().sum();
  if (variation <= 0.0 || steps > most_von_neumann * variation) return false;
  return residual_of_best_step(levels) > (1.0 - least_explained_by_time) * variation;
}

// Not the very lowest level, which is low by chance: the lowest thirtieth of many levels, the lowest tenth of few.
double lowest_of(Durations levels) {
  const Eigen::Index rank = levels.size() >= 96 ? levels.size() / 30 : levels.size() / 10;
  return of_rank({levels.data(), static_cast<std::size_t>(levels.size())}, static_cast<std::size_t>(rank));
}

// Whether levels vary by more than their sampling error, and slowly. Durations must not vary more around raised levels:
// with many delays they would.
bool change_for_sure(const Durations& durations, const Blocks& blocks, double most_von_neumann) {
  const Durations& levels = blocks.levels;
  // Segments that take no time have no relative spread.
  if (levels.minCoeff() <= 0.0 || !change_slowly(levels, most_von_neumann)) return false;
  const Eigen::Index count = levels.size();
  const double variation = (levels - levels.mean()).square().sum();
  const boost::math::chi_squared law(static_cast<double>(count - 1));
  const Durations spreads = spreads_of(durations, count);
  // Without any jitter, levels that differ at all do so for sure.
  using Limits = std::numeric_limits<double>;
  const double sampling = std::max(sampling_variance(spreads, durations.size()), Limits::min());
  const double normal = std::min(variation / sampling, Limits::max());
  if (boost::math::cdf(boost::math::complement(law, normal)) > significance_of_changes) return false;

  const double middle = 0.5 * (lowest_of(levels) + levels.maxCoeff());
  const auto spread_where = [&](bool is_raised) {
    std::vector<double> relative;
    for (Eigen::Index block = 0; block < count; ++block) {
      if ((levels[block] > middle) == is_raised) relative.push_back(spreads[block] / levels[block]);
    }
    return median(Eigen::Map<const Durations>(relative.data(), static_cast<Eigen::Index>(relative.size())));
  };
  return spread_where(true) <= most_spread * spread_where(false);
}

// Changes of the machine are looked for in many blocks first, as changes within a few blocks are not seen. Jitter
// wanders over some tens of segments, too. So many blocks must be longer, and levels must change over several of them.
struct Resolution {
  Eigen::Index most_blocks;
  Eigen::Index fewest_in_block;
  double most_von_neumann;
};
constexpr std::array<Resolution, 3> resolutions{{{192, 40, 0.5}, {96, 30, 0.6}, {48, 15, 1.0}}};

}  // namespace

std::optional<Durations> slowness_of(const Durations& relative) {
  for (const Resolution& resolution : resolutions) {
    const std::optional<Blocks> blocks = blocks_of(relative, resolution.most_blocks, resolution.fewest_in_block);
    if (!blocks || !change_for_sure(relative, *blocks, resolution.most_von_neumann)) continue;
    const double lowest = lowest_of(blocks->levels);
    Durations slowness(relative.size());
    const Durations& times = blocks->times;
    Eigen::Index right = 1;
    for (Eigen::Index i = 0; i < slowness.size(); ++i) {
      const double time = (2.0 * static_cast<double>(i) + 1.0) / static_cast<double>(slowness.size()) - 1.0;
      while (right + 1 < times.size() && times[right] < time) ++right;
      const double place = std::clamp((time - times[right - 1]) / (times[right] - times[right - 1]), 0.0, 1.0);
      const double level = (1.0 - place) * blocks->levels[right - 1] + place * blocks->levels[right];
      slowness[i] = std::max(1.0, level / lowest);
    }
    return slowness;
  }
  return std::nullopt;
}

double slow_rise_of(const Durations& factors) {
  const std::optional<Blocks> blocks = blocks_of(factors, blocks_of_changes);
  if (!blocks || !change_slowly(blocks->levels, most_von_neumann_of_few)) return 0.0;
  const double lowest = lowest_of(blocks->levels);
  return (blocks->levels - lowest).max(0.0).mean() / blocks->levels.mean();
}

}  // namespace halcyon
