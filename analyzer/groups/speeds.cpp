#include "analyzer/groups/speeds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "analyzer/groups/partition.hpp"
#include "analyzer/statistics/levels.hpp"
#include "analyzer/statistics/sorting.hpp"
#include "libprofile/format/boundary.hpp"

namespace halcyon {
namespace {

// Numerics: the length of the series. Beyond, several segments are a step; of many, every so many-th is looked at.
constexpr std::size_t most_steps = 8192;
constexpr std::size_t most_of_a_step = 32;

constexpr std::size_t fewest_steps = 2 * fewest_judged_segments;
constexpr double full_speed_lasts = 1.0 / 30.0;  // of the run, at least
constexpr double least_factor = 1.03;
constexpr double most_in_between = 0.12;  // of the time, in the middle third between full speed and the slowest

// Consecutive segments that are compared, one or several to a step.
struct Series {
  std::vector<std::size_t> segments;
  std::size_t per_step = 1;

  std::size_t steps() const { return segments.size() / per_step; }
  std::size_t step_of(std::size_t at) const { return std::min(at / per_step, steps() - 1); }
};

Series series_of(const Comparable& run) {
  std::vector<std::size_t> sizes(run.kinds, 0);
  for (std::size_t i = 0; i < run.durations.size(); ++i) sizes[run.kind_of[i]] += run.durations[i] > 0.0F ? 1 : 0;
  const auto is_compared = [&](std::size_t i) {
    return run.durations[i] > 0.0F && sizes[run.kind_of[i]] >= 2 * smallest_judged_group;
  };
  std::size_t compared = 0;
  for (std::size_t i = 0; i < run.durations.size(); ++i) compared += is_compared(i) ? 1 : 0;
  const std::size_t stride = 1 + compared / (most_steps * most_of_a_step);
  Series series;
  series.segments.reserve(compared / stride + 1);
  std::size_t at = 0;
  for (std::size_t i = 0; i < run.durations.size(); ++i) {
    if (is_compared(i) && at++ % stride == 0) series.segments.push_back(i);
  }
  series.per_step = std::max<std::size_t>(1, (series.segments.size() + most_steps - 1) / most_steps);
  return series;
}

// (steps) how far the logarithms of durations are above the level of their kind. `slowness`: its logarithm, of each
// step, or empty as long as nothing is known of speeds.
std::vector<double> above_their_kind(const Comparable& run, const Series& series, std::span<const double> slowness) {
  std::vector<std::vector<double>> of_kind(run.kinds);
  std::vector<double> values(series.segments.size());
  for (std::size_t at = 0; at < values.size(); ++at) {
    const std::size_t segment = series.segments[at];
    values[at] = std::log(static_cast<double>(run.durations[segment]));
    of_kind[run.kind_of[segment]].push_back(values[at] - (slowness.empty() ? 0.0 : slowness[series.step_of(at)]));
  }
  std::vector<double> level(run.kinds, 0.0);
  for (std::uint32_t kind = 0; kind < run.kinds; ++kind) {
    std::vector<double>& all = of_kind[kind];
    if (all.empty()) continue;
    // As long as nothing is known of speeds, a level that is rarely above the full speed's.
    level[kind] = of_rank(all, slowness.empty() ? all.size() / 6 : all.size() / 2);
  }
  for (std::size_t at = 0; at < values.size(); ++at) values[at] -= level[run.kind_of[series.segments[at]]];
  return medians_of_stretches(values, series.per_step);
}

// (values) how far the level of each is above the lowest that lasts. A level is the lower quartile of a stretch: delays
// in bursts spare some segments.
std::vector<double> above_full_speed(std::span<const double> values) {
  std::vector<OneLevel> ascending = stretches_of_one_level(values);
  for (OneLevel& one : ascending) {
    const std::span<const double> members = values.subspan(one.stretch.begin, one.stretch.size());
    std::vector<double> sorted(members.begin(), members.end());
    one.level = of_rank(sorted, sorted.size() / 4);
  }
  std::ranges::sort(ascending, {}, &OneLevel::level);
  std::vector<double> above(values.size(), 0.0);
  double lowest = 0.0;
  double left = full_speed_lasts * static_cast<double>(values.size());
  for (const auto& [stretch, level] : ascending) {
    if (left > 0.0) lowest = level;
    left -= static_cast<double>(stretch.size());
    std::fill_n(above.begin() + static_cast<std::ptrdiff_t>(stretch.begin), stretch.size(), level - lowest);
  }
  return above;
}

// How many steps each stay at full speed lasts, and each below; the first and the last are cut by the run.
std::array<std::vector<double>, 2> stays_of(std::span<const double> slowness) {
  std::array<std::vector<double>, 2> stays;
  std::size_t from = 0;
  for (std::size_t i = 1; i < slowness.size(); ++i) {
    if ((slowness[i] > 0.0) == (slowness[from] > 0.0)) continue;
    if (from > 0) stays[slowness[from] > 0.0 ? 1 : 0].push_back(static_cast<double>(i - from));
    from = i;
  }
  return stays;
}

bool is_regular(const std::vector<double>& stays, std::size_t per_step) {
  if (stays.size() < 3) return false;
  double mean = 0.0;
  double square = 0.0;
  for (const double stay : stays) {
    mean += stay;
    square += stay * stay;
  }
  const auto count = static_cast<double>(stays.size());
  mean /= count;
  const double deviation = std::sqrt(std::max(0.0, square / count - mean * mean));
  return deviation * static_cast<double>(per_step) < 0.5;  // segments: rounded, always the same number
}

double share_in_between(std::span<const double> slowness) {
  const double slowest = std::ranges::max(slowness);
  const auto between = std::ranges::count_if(
      slowness, [slowest](double one) { return one > slowest / 3.0 && one < 2.0 * slowest / 3.0; });
  return static_cast<double>(between) / static_cast<double>(slowness.size());
}

// (steps) the logarithm of the slowness; 0 where it is too small to be told, or too large for the same work.
std::vector<double> slowness_of(std::span<const double> steps) {
  std::vector<double> slowness = above_full_speed(steps);
  for (double& one : slowness) {
    if (one < std::log(least_factor) || one > std::log(most_slower)) one = 0.0;
  }
  return slowness;
}

SpeedPattern pattern_of(std::span<const double> slowness, const std::array<std::vector<double>, 2>& stays) {
  if (share_in_between(slowness) > most_in_between) return SpeedPattern::wanders;
  return stays[0].empty() && stays[1].empty() ? SpeedPattern::changes_once : SpeedPattern::switches;
}

// Segments that are not compared are as fast as the one before them.
std::vector<float> of_all_segments(std::span<const double> slowness, const Series& series, std::size_t segments) {
  std::vector<float> result(segments, 1.0F);
  std::size_t at = 0;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    if (at + 1 < series.segments.size() && series.segments[at + 1] <= segment) ++at;
    result[segment] = static_cast<float>(std::exp(slowness[series.step_of(at)]));
  }
  return result;
}

}  // namespace

std::optional<Speeds> find_speeds(const Comparable& run) {
  const Series series = series_of(run);
  if (series.steps() < fewest_steps) return std::nullopt;
  std::vector<double> slowness;
  // With the speeds known, the kinds are compared anew.
  for (int round = 0; round < 3; ++round) {
    slowness = slowness_of(above_their_kind(run, series, slowness));
    if (!(std::ranges::max(slowness) > 0.0)) return std::nullopt;
  }
  const std::array<std::vector<double>, 2> stays = stays_of(slowness);
  const bool is_of_the_program = is_regular(stays[0], series.per_step) && is_regular(stays[1], series.per_step);
  if (is_of_the_program) return std::nullopt;
  return Speeds{of_all_segments(slowness, series, run.durations.size()), pattern_of(slowness, stays)};
}

}  // namespace halcyon
