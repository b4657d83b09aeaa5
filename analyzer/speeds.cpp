#include "analyzer/speeds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

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
constexpr double regular_within = 0.35;   // segments: what the program does comes at the very same number of them

using Steps = std::vector<double>;

double median_in_place(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

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

// What each segment is above or below the level of its kind.
std::vector<double> above_its_kind(const Comparable& run, const Series& series, const Model* model) {
  std::vector<std::vector<double>> of_kind(run.kinds);
  const auto slowness = [&](std::size_t at) {
    if (model == nullptr) return 0.0;
    const std::size_t step = std::min(at / series.per_step, model->slow.size() - 1);
    return model->slow[step] > 0.5 ? model->level[1] - model->level[0] : 0.0;
  };
  std::vector<double> values(series.segments.size());
  for (std::size_t at = 0; at < values.size(); ++at) {
    const std::size_t segment = series.segments[at];
    values[at] = std::log(static_cast<double>(run.durations[segment]));
    of_kind[run.kind_of[segment]].push_back(values[at] - slowness(at));
  }
  std::vector<double> level(run.kinds, 0.0);
  for (std::uint32_t kind = 0; kind < run.kinds; ++kind) {
    std::vector<double>& all = of_kind[kind];
    if (all.empty()) continue;
    // As long as nothing is known of speeds, a level that is rarely above the full speed's.
    const std::size_t at = model == nullptr ? all.size() / 6 : all.size() / 2;
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
    level[kind] = all[at];
  }
  for (std::size_t at = 0; at < values.size(); ++at) values[at] -= level[run.kind_of[series.segments[at]]];
  return values;
}

Steps in_steps(const Series& series, std::vector<double> values) {
  Steps steps;
  for (std::size_t step = 0; step < series.steps(); ++step) {
    steps.push_back(median_in_place(std::span(values).subspan(step * series.per_step, series.per_step)));
  }
  return steps;
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
  std::size_t between = 0;
  std::size_t count = 0;
  const double gap = model.level[1] - model.level[0];
  for (std::size_t from = 0; from + length <= steps.size(); from += length, ++count) {
    Steps stretch(steps.begin() + static_cast<std::ptrdiff_t>(from),
                  steps.begin() + static_cast<std::ptrdiff_t>(from + length));
    const double place = (median_in_place(stretch) - model.level[0]) / gap;
    between += place > 1.0 / 3.0 && place < 2.0 / 3.0 ? 1 : 0;
  }
  return count > 0 ? static_cast<double>(between) / static_cast<double>(count) : 1.0;
}

bool are_two_speeds(const Steps& steps, const Model& chain, std::size_t per_step, double most_factor) {
  const double gap = chain.level[1] - chain.level[0];
  if (gap < std::log(least_factor) || gap > std::log(most_factor)) return false;
  const Model any = best_of(steps, Order::any);
  if (chain.log_likelihood - any.log_likelihood < least_gain) return false;
  const double dwell = 1.0 / std::max(chain.leaves[0], chain.leaves[1]);
  if (dwell < least_dwell) return false;
  const std::array<std::vector<double>, 2> stays = stays_of(chain);
  if (is_regular(stays[0], per_step) && is_regular(stays[1], per_step)) return false;
  // One step up is told from a slope by the same.
  const bool once = stays[0].empty() && stays[1].empty();
  return share_in_between(steps, chain, dwell) <= (once ? most_in_between_once : most_in_between);
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
    Steps medians;
    for (std::size_t from = 0; from + length <= steps.size(); from += length) {
      Steps stretch(steps.begin() + static_cast<std::ptrdiff_t>(from),
                    steps.begin() + static_cast<std::ptrdiff_t>(from + length));
      medians.push_back(median_in_place(stretch));
    }
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

}  // namespace

std::optional<Speeds> find_speeds(const Comparable& run, double most_factor) {
  const Series series = series_of(run);
  if (series.steps() < fewest_steps) return std::nullopt;
  Steps steps = in_steps(series, above_its_kind(run, series, nullptr));
  if (!depends_on_order(steps)) return std::nullopt;
  Model chain = best_of(steps, Order::of_a_chain);
  if (chain.slow.empty()) return std::nullopt;
  // With the speeds known, the kinds are compared anew.
  for (int again = 0; again < 2; ++again) {
    steps = in_steps(series, above_its_kind(run, series, &chain));
    Model next = best_of(steps, Order::of_a_chain);
    if (next.slow.empty()) break;
    chain = std::move(next);
  }
  if (!are_two_speeds(steps, chain, series.per_step, most_factor)) return std::nullopt;

  Speeds speeds{.factor = std::exp(chain.level[1] - chain.level[0]),
                .slow = std::vector<std::uint8_t>(run.durations.size(), 0)};
  const std::array<std::vector<double>, 2> stays = stays_of(chain);
  speeds.changed_once = stays[0].empty() && stays[1].empty();
  std::size_t at = 0;
  for (std::size_t segment = 0; segment < run.durations.size(); ++segment) {
    // What is not compared is as fast as what came before it.
    if (at + 1 < series.segments.size() && series.segments[at + 1] <= segment) ++at;
    const std::size_t step = std::min(at / series.per_step, chain.slow.size() - 1);
    speeds.slow[segment] = chain.slow[step] > 0.5 ? 1 : 0;
  }
  return speeds;
}

}  // namespace halcyon
