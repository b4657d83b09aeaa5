#include "analyzer/groups/speeds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "analyzer/groups/drift.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr std::size_t most_steps = 8192;    // of the chain: beyond, several segments are one
constexpr std::size_t most_of_a_step = 32;  // segments: of more, every so many-th is looked at
constexpr std::size_t fewest_steps = 60;
constexpr std::size_t fewest_of_a_kind = 10;
constexpr int most_rounds = 20;
constexpr double converged = 0.05;  // nats a round
constexpr double least_factor = 1.03;
constexpr double least_gain = 25.0;  // nats, over levels in any order
constexpr double least_dwell = 5.0;  // steps at one level, on average
constexpr double most_in_between_once = 0.05;
constexpr double most_in_between = 0.12;  // of the time, in the middle third between the levels
// No jitter wanders as far as levels that are so far apart: delays may make stays look shorter, and fill the middle.
constexpr double far_apart = 0.25;
constexpr double least_dwell_far_apart = 3.0;
constexpr double most_in_between_far_apart = 0.17;
constexpr double least_of_the_shortest = 0.8;  // of the levels' distance, between the shortest tenths at either speed
constexpr double nearer = 0.9;                 // to durations: many levels, that two should not explain them
constexpr double regular_within = 0.35;        // segments: what the program does comes at the very same number of them

using Steps = std::vector<double>;

struct Model {
  std::array<double, 2> level{};  // log of the duration
  double width = 0.1;
  std::array<double, 2> leaves{0.05,
                               0.05};  // probability of another state at the next step; unused where any order goes
  double slow_share = 0.5;
  double log_likelihood = -1e300;
  std::vector<double> slow;  // (steps) probability
};

// Student's t law of three degrees of freedom, up to its constant.
double density(double value, double level, double width) {
  const double z = (value - level) / width;
  const double spread = 1.0 + z * z / 3.0;
  return 1.0 / (width * spread * spread);
}

enum class Order { of_a_chain, any };

// The probability of the slow state at each step, given all of them: the forward-backward algorithm with scaling.
void find_states(const Steps& steps, Order order, Model& model) {
  const std::size_t count = steps.size();
  std::vector<std::array<double, 2>> forward(count);
  std::vector<double> scales(count);
  const std::array<double, 2> share{1.0 - model.slow_share, model.slow_share};
  const auto into = [&](const std::array<double, 2>& state, std::size_t to) {
    if (order == Order::any) return share[to];
    return state[to] * (1.0 - model.leaves[to]) + state[1 - to] * model.leaves[1 - to];
  };
  std::array<double, 2> state = share;
  double sum_of_logs = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::array<double, 2> before = state;
    double total = 0.0;
    for (std::size_t s = 0; s < 2; ++s) {
      state[s] = (i == 0 ? share[s] : into(before, s)) * density(steps[i], model.level[s], model.width) + 1e-300;
      total += state[s];
    }
    for (double& probability : state) probability /= total;
    forward[i] = state;
    scales[i] = total;
    sum_of_logs += std::log(total);
  }
  model.log_likelihood = sum_of_logs;

  model.slow.resize(count);
  std::array<double, 2> backward{1.0, 1.0};
  std::array<double, 2> left{};   // expected number of steps that leave a state
  std::array<double, 2> times{};  // in it
  double slow_steps = 0.0;
  for (std::size_t i = count; i-- > 0;) {
    const double total = forward[i][0] * backward[0] + forward[i][1] * backward[1];
    const double slow = forward[i][1] * backward[1] / total;
    model.slow[i] = slow;
    slow_steps += slow;
    if (i == 0) break;
    std::array<double, 2> seen{};
    for (std::size_t s = 0; s < 2; ++s) {
      seen[s] = density(steps[i], model.level[s], model.width) * backward[s] / scales[i];
    }
    for (std::size_t s = 0; s < 2; ++s) {
      const double stays = (order == Order::any ? share[s] : 1.0 - model.leaves[s]) * seen[s];
      const double goes = (order == Order::any ? share[1 - s] : model.leaves[s]) * seen[1 - s];
      backward[s] = stays + goes;
      const double here = forward[i - 1][s];
      left[s] += here * goes;
      times[s] += here * backward[s];
    }
  }
  for (std::size_t s = 0; s < 2; ++s) {
    if (times[s] > 0.0) model.leaves[s] = std::clamp(left[s] / times[s], 1e-6, 0.7);
  }
  model.slow_share = std::clamp(slow_steps / static_cast<double>(count), 1e-3, 1.0 - 1e-3);
}

// Levels and width from the states: weights of Student's law.
void find_levels(const Steps& steps, Model& model) {
  std::array<double, 2> weights{};
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t s = 0; s < 2; ++s) {
      const double z = (steps[i] - model.level[s]) / model.width;
      const double weight = (s == 1 ? model.slow[i] : 1.0 - model.slow[i]) * 4.0 / (3.0 + z * z);
      weights[s] += weight;
      sums[s] += weight * steps[i];
    }
  }
  for (std::size_t s = 0; s < 2; ++s) {
    if (weights[s] > 0.0) model.level[s] = sums[s] / weights[s];
  }
  double squares = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t s = 0; s < 2; ++s) {
      const double off = steps[i] - model.level[s];
      const double z = off / model.width;
      squares += (s == 1 ? model.slow[i] : 1.0 - model.slow[i]) * 4.0 / (3.0 + z * z) * off * off;
    }
  }
  model.width = std::max(1e-4, std::sqrt(squares / static_cast<double>(steps.size())));
}

Model fitted(const Steps& steps, Order order, double low, double log_factor) {
  Model model{.level = {low, low + log_factor}, .width = std::max(0.005, 0.3 * log_factor)};
  double before = -1e300;
  for (int round = 0; round < most_rounds; ++round) {
    find_states(steps, order, model);
    if (model.log_likelihood - before < converged) break;
    before = model.log_likelihood;
    find_levels(steps, model);
  }
  return model;
}

Model best_of(const Steps& steps, Order order) {
  Steps sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  const double rarely_slow = sorted[sorted.size() / 6];
  const double mostly_slow = sorted[2 * sorted.size() / 3];
  Model best;
  for (const double factor : {1.1, 1.4}) {
    for (const double low : {rarely_slow, mostly_slow - std::log(factor)}) {
      Model model = fitted(steps, order, low, std::log(factor));
      if (model.level[0] > model.level[1]) continue;
      if (model.log_likelihood > best.log_likelihood) best = std::move(model);
    }
  }
  return best;
}

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

// What the logarithm of each segment's duration is above or below the level of its kind. `slowness`: its logarithm, of
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

bool is_slow(const Model& model, const Series& series, std::size_t at) {
  return model.slow[std::min(at / series.per_step, model.slow.size() - 1)] > 0.5;
}

std::vector<double> slowness_by(const Model& model, const Series& series) {
  std::vector<double> slowness(series.segments.size(), 0.0);
  for (std::size_t at = 0; at < slowness.size(); ++at) {
    if (is_slow(model, series, at)) slowness[at] = model.level[1] - model.level[0];
  }
  return slowness;
}

// Of consecutive stretches of so many values; what is left at the end is not in any.
Steps medians_of_stretches(std::vector<double> values, std::size_t length) {
  Steps medians;
  for (std::size_t from = 0; from + length <= values.size(); from += length) {
    medians.push_back(median_in_place(std::span(values).subspan(from, length)));
  }
  return medians;
}

// How many steps each stay at a level lasts; the first and the last are cut by the run.
std::array<std::vector<double>, 2> stays_of(const Model& model) {
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
double share_in_between(const Steps& steps, const Model& model, double dwell) {
  const auto length = static_cast<std::size_t>(std::clamp(0.25 * dwell, 3.0, 64.0));
  const Steps medians = medians_of_stretches(steps, length);
  if (medians.empty()) return 1.0;
  const double gap = model.level[1] - model.level[0];
  const auto between = std::count_if(medians.begin(), medians.end(), [&](double median) {
    const double place = (median - model.level[0]) / gap;
    return place > 1.0 / 3.0 && place < 2.0 / 3.0;
  });
  return static_cast<double>(between) / static_cast<double>(medians.size());
}

// How far the shortest tenth at the slow speed is above that at the full one, in units of the levels' distance.
double shortest_apart(const Steps& steps, const Model& model) {
  std::array<Steps, 2> of;
  for (std::size_t i = 0; i < steps.size(); ++i) of[model.slow[i] > 0.5 ? 1 : 0].push_back(steps[i]);
  std::array<double, 2> shortest{};
  for (std::size_t s = 0; s < 2; ++s) {
    if (of[s].empty()) return 0.0;
    shortest[s] = of_rank(of[s], of[s].size() / 10);
  }
  return (shortest[1] - shortest[0]) / (model.level[1] - model.level[0]);
}

bool are_two_speeds(const Steps& steps, const Model& chain, std::size_t per_step, double most_factor) {
  const double gap = chain.level[1] - chain.level[0];
  if (gap < std::log(least_factor) || gap > std::log(most_factor)) return false;
  if (shortest_apart(steps, chain) < least_of_the_shortest) return false;
  const Model any = best_of(steps, Order::any);
  if (chain.log_likelihood - any.log_likelihood < least_gain) return false;
  const bool are_far_apart = gap > far_apart;
  const double dwell = 1.0 / std::max(chain.leaves[0], chain.leaves[1]);
  if (dwell < (are_far_apart ? least_dwell_far_apart : least_dwell)) return false;
  const std::array<std::vector<double>, 2> stays = stays_of(chain);
  if (is_regular(stays[0], per_step) && is_regular(stays[1], per_step)) return false;
  double most = are_far_apart ? most_in_between_far_apart : most_in_between;
  // One step up is told from a slope by the same.
  if (stays[0].empty() && stays[1].empty()) most = most_in_between_once;
  return share_in_between(steps, chain, dwell) <= most;
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

// Whether what comes next is like what came before, over stretches of any length that levels may last: cheap to ask,
// and where not, there are no levels.
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

// Of each segment of the run, from those of the series: what is not compared is as fast as what came before it.
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
  Model chain = best_of(steps, Order::of_a_chain);
  if (chain.slow.empty()) return std::nullopt;
  // With the speeds known, the kinds are compared anew.
  for (int again = 0; again < 2; ++again) {
    steps = medians_of_stretches(above_its_kind(run, series, slowness_by(chain, series)), series.per_step);
    Model next = best_of(steps, Order::of_a_chain);
    if (next.slow.empty()) break;
    chain = std::move(next);
  }
  if (!are_two_speeds(steps, chain, series.per_step, most_factor)) return std::nullopt;
  const std::array<std::vector<double>, 2> stays = stays_of(chain);
  return Speeds{.slowness = of_all_segments(slowness_by(chain, series), series, run.durations.size()),
                .factor = std::exp(chain.level[1] - chain.level[0]),
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
