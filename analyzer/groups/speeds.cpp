#include "analyzer/groups/speeds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "analyzer/groups/slowness.hpp"
#include "analyzer/groups/speed_chain.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr std::size_t most_chain_steps = 8192;  // of the chain: beyond, several segments are one
constexpr std::size_t most_of_a_step = 32;      // segments: of more, every so many-th is looked at
constexpr std::size_t fewest_steps = 60;
constexpr std::size_t fewest_of_a_kind = 10;
constexpr double least_factor = 1.03;
constexpr double least_gain = 25.0;  // nats, over levels in any order
constexpr double least_dwell = 5.0;  // steps at one level, on average
constexpr double most_in_between_once = 0.05;
constexpr double most_in_between = 0.12;       // of the time, in the middle third between the levels
constexpr double least_of_the_shortest = 0.8;  // of the levels' distance, between the shortest tenths at either speed
constexpr double nearer = 0.9;                 // many levels must be nearer to the durations than two by this factor
constexpr double regular_within = 0.35;  // segments: what the program does comes at exactly the same number of them

// Consecutive segments that are compared, one or several to a step.
struct Series {
  std::vector<std::size_t> segments;
  std::size_t per_step = 1;

  std::size_t steps() const { return segments.size() / per_step; }
};

Series series_of(const Comparable& run) {
  std::vector<std::size_t> sizes(run.kinds, 0);
  for (std::size_t i = 0; i < run.durations.size(); ++i) sizes[run.kind_of[i]] += run.durations[i] > 0.0F ? 1 : 0;
  const auto is_compared = [&](std::size_t i) {
    return run.durations[i] > 0.0F && sizes[run.kind_of[i]] >= fewest_of_a_kind;
  };
  std::size_t compared = 0;
  for (std::size_t i = 0; i < run.durations.size(); ++i) compared += is_compared(i) ? 1 : 0;
  const std::size_t stride = 1 + compared / (most_chain_steps * most_of_a_step);
  Series series;
  series.segments.reserve(compared / stride + 1);
  std::size_t at = 0;
  for (std::size_t i = 0; i < run.durations.size(); ++i) {
    if (is_compared(i) && at++ % stride == 0) series.segments.push_back(i);
  }
  series.per_step = std::max<std::size_t>(1, (series.segments.size() + most_chain_steps - 1) / most_chain_steps);
  return series;
}

// How far the logarithm of each segment's duration is above the level of its kind. `slowness`: its logarithm, of
// each segment of the series, or empty as long as nothing is known of speeds.
std::vector<double> above_its_kind(const Comparable& run, const Series& series, const std::vector<double>& slowness) {
  std::vector<std::vector<double>> of_kind(run.kinds);
  std::vector<double> values(series.segments.size());
  for (std::size_t at = 0; at < values.size(); ++at) {
    const std::size_t segment = series.segments[at];
    values[at] = std::log(static_cast<double>(run.durations[segment]));
    of_kind[run.kind_of[segment]].push_back(values[at] - (slowness.empty() ? 0.0 : slowness[at]));
  }
  std::vector<double> level(run.kinds, 0.0);
  for (std::uint32_t kind = 0; kind < run.kinds; ++kind) {
    std::vector<double>& all = of_kind[kind];
    if (all.empty()) continue;
    // As long as nothing is known of speeds, a level that is rarely above the full speed's.
    level[kind] = of_rank(all, slowness.empty() ? all.size() / 6 : all.size() / 2);
  }
  for (std::size_t at = 0; at < values.size(); ++at) values[at] -= level[run.kind_of[series.segments[at]]];
  return values;
}

bool is_slow(const SpeedChain& model, const Series& series, std::size_t at) {
  return model.slow[std::min(at / series.per_step, model.slow.size() - 1)] > 0.5;
}

std::vector<double> slowness_by(const SpeedChain& model, const Series& series) {
  std::vector<double> slowness(series.segments.size(), 0.0);
  for (std::size_t at = 0; at < slowness.size(); ++at) {
    if (is_slow(model, series, at)) slowness[at] = model.gap();
  }
  return slowness;
}

// The medians of consecutive stretches of so many values. Values left over at the end are not used.
Steps medians_of_stretches(std::vector<double> values, std::size_t length) {
  Steps medians;
  for (std::size_t from = 0; from + length <= values.size(); from += length) {
    medians.push_back(median_in_place(std::span(values).subspan(from, length)));
  }
  return medians;
}

// How many steps each stay at a level lasts; the first and the last are cut by the run.
std::array<std::vector<double>, 2> stays_of(const SpeedChain& model) {
  std::array<std::vector<double>, 2> stays;
  std::size_t from = 0;
  for (std::size_t i = 1; i <= model.slow.size(); ++i) {
    const bool ends = i == model.slow.size() || (model.slow[i] > 0.5) != (model.slow[from] > 0.5);
    if (!ends) continue;
    if (from > 0 && i < model.slow.size())
      stays[model.slow[from] > 0.5 ? 1 : 0].push_back(static_cast<double>(i - from));
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
  return deviation * static_cast<double>(per_step) <= regular_within;
}

// The share of short stretches of the run whose median is in the middle third between the levels.
double share_in_between(const Steps& steps, const SpeedChain& model, double dwell) {
  const auto length = static_cast<std::size_t>(std::clamp(0.25 * dwell, 3.0, 64.0));
  const Steps medians = medians_of_stretches(steps, length);
  if (medians.empty()) return 1.0;
  const double gap = model.gap();
  const auto between = std::count_if(medians.begin(), medians.end(), [&](double median) {
    const double place = (median - model.level[0]) / gap;
    return place > 1.0 / 3.0 && place < 2.0 / 3.0;
  });
  return static_cast<double>(between) / static_cast<double>(medians.size());
}

// How far the shortest tenth at the slow speed is above that at the full one, in units of the levels' distance.
double shortest_apart(const Steps& steps, const SpeedChain& model) {
  std::array<Steps, 2> of;
  for (std::size_t i = 0; i < steps.size(); ++i) of[model.slow[i] > 0.5 ? 1 : 0].push_back(steps[i]);
  std::array<double, 2> shortest{};
  for (std::size_t s = 0; s < 2; ++s) {
    if (of[s].empty()) return 0.0;
    shortest[s] = of_rank(of[s], of[s].size() / 10);
  }
  return (shortest[1] - shortest[0]) / (model.gap());
}

bool are_two_speeds(const Steps& steps, const SpeedChain& chain, std::size_t per_step, double most_factor) {
  const double gap = chain.gap();
  if (gap < std::log(least_factor) || gap > std::log(most_factor)) return false;
  if (shortest_apart(steps, chain) < least_of_the_shortest) return false;
  const SpeedChain any = fit_speed_chain(steps, Order::any);
  if (chain.log_likelihood - any.log_likelihood < least_gain) return false;
  const double dwell = 1.0 / std::max(chain.leaves[0], chain.leaves[1]);
  if (dwell < least_dwell) return false;
  const std::array<std::vector<double>, 2> stays = stays_of(chain);
  if (is_regular(stays[0], per_step) && is_regular(stays[1], per_step)) return false;
  // The same share tells one step up from a slope.
  const bool changes_once = stays[0].empty() && stays[1].empty();
  return share_in_between(steps, chain, dwell) <= (changes_once ? most_in_between_once : most_in_between);
}

// Whether values beyond a limit come next to each other more often than in any order.
bool come_together(const Steps& values, double limit, bool above) {
  constexpr double sure = 4.5;  // standard errors
  constexpr double fewest = 8.0;
  double beyond = 0.0;
  double together = 0.0;
  bool before = false;
  for (const double value : values) {
    const bool now = above ? value > limit : value < limit;
    beyond += now ? 1.0 : 0.0;
    together += now && before ? 1.0 : 0.0;
    before = now;
  }
  const double expected = beyond * beyond / static_cast<double>(values.size());
  return together >= fewest && together - expected > sure * std::sqrt(expected);
}

// Whether neighbouring stretches are alike, at any length that levels may last. If not, there are no levels. This test
// is cheap.
bool depends_on_order(const Steps& steps) {
  for (std::size_t length = 1; steps.size() / length >= 32; length *= 4) {
    const Steps medians = medians_of_stretches(steps, length);
    Steps sorted = medians;
    std::sort(sorted.begin(), sorted.end());
    for (const double share : {0.5, 0.2, 0.05}) {
      const auto rank = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
      if (come_together(medians, sorted[sorted.size() - 1 - rank], true)) return true;
      if (come_together(medians, sorted[rank], false)) return true;
    }
  }
  return false;
}

// The slowness of each segment of the run. Segments that are not compared are as fast as the one before them.
std::vector<float> of_all_segments(const std::vector<double>& slowness, const Series& series, std::size_t segments) {
  std::vector<float> result(segments, 1.0F);
  std::size_t at = 0;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    if (at + 1 < series.segments.size() && series.segments[at + 1] <= segment) ++at;
    result[segment] = static_cast<float>(std::exp(slowness[at]));
  }
  return result;
}

std::optional<Speeds> find_two_speeds(const Comparable& run, const Series& series, double most_factor) {
  if (series.steps() < fewest_steps) return std::nullopt;
  Steps steps = medians_of_stretches(above_its_kind(run, series, {}), series.per_step);
  SpeedChain chain = fit_speed_chain(steps, Order::of_a_chain);
  if (chain.slow.empty()) return std::nullopt;
  // With the speeds known, the kinds are compared anew.
  for (int again = 0; again < 2; ++again) {
    steps = medians_of_stretches(above_its_kind(run, series, slowness_by(chain, series)), series.per_step);
    SpeedChain next = fit_speed_chain(steps, Order::of_a_chain);
    if (next.slow.empty()) break;
    chain = std::move(next);
  }
  if (!are_two_speeds(steps, chain, series.per_step, most_factor)) return std::nullopt;
  const std::array<std::vector<double>, 2> stays = stays_of(chain);
  return Speeds{.slowness = of_all_segments(slowness_by(chain, series), series, run.durations.size()),
                .factor = std::exp(chain.gap()),
                .pattern = stays[0].empty() && stays[1].empty() ? SpeedPattern::changes_once : SpeedPattern::switches};
}

Durations relative_durations(const Comparable& run, const Series& series, const std::vector<double>& slowness) {
  const std::vector<double> values = above_its_kind(run, series, slowness);
  return Eigen::Map<const Durations>(values.data(), static_cast<Eigen::Index>(values.size())).exp();
}

std::optional<Speeds> find_wandering_speed(const Comparable& run, const Series& series) {
  std::vector<double> slowness;
  for (int again = 0; again < 3; ++again) {
    const std::optional<Durations> changes = slowness_of(relative_durations(run, series, slowness));
    if (!changes) return std::nullopt;
    const Durations logarithms = changes->log();
    slowness.assign(logarithms.begin(), logarithms.end());
  }
  return Speeds{.slowness = of_all_segments(slowness, series, run.durations.size()), .pattern = SpeedPattern::wanders};
}

// How far durations are from their levels, in logarithms, where those speeds are taken out: the median.
double spread_beside(const Comparable& run, const Series& series, const Speeds& speeds) {
  std::vector<double> slowness;
  for (const std::size_t segment : series.segments) {
    slowness.push_back(std::log(static_cast<double>(speeds.slowness[segment])));
  }
  std::vector<double> values = above_its_kind(run, series, slowness);
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = std::abs(values[at] - slowness[at]);
  return median_in_place(values);
}

}  // namespace

std::optional<Speeds> find_speeds(const Comparable& run, double most_factor) {
  Series series = series_of(run);
  const std::size_t finest = series.per_step;
  if (series.steps() < fewest_steps) return std::nullopt;
  if (!depends_on_order(medians_of_stretches(above_its_kind(run, series, {}), series.per_step))) return std::nullopt;
  std::optional<Speeds> two;
  // Medians of some segments show levels where delays hide them.
  for (const std::size_t coarser : {1U, 4U, 16U}) {
    series.per_step = coarser * finest;
    two = find_two_speeds(run, series, most_factor);
    if (two) break;
  }
  if (!two && !run.is_same_work) return std::nullopt;
  std::optional<Speeds> wandering = find_wandering_speed(run, series);
  if (!wandering) return two;
  if (two && spread_beside(run, series, *wandering) >= nearer * spread_beside(run, series, *two)) return two;
  return run.is_same_work ? wandering : std::nullopt;
}

}  // namespace halcyon
