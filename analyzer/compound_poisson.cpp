#include "analyzer/compound_poisson.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halcyon {
namespace {

// -- the counts that a law is fitted to

constexpr double counted_share = 0.97;  // of the segments; longer ones count as "longer"
constexpr double middle_step = 0.023;   // of the group in a cell
constexpr double first_share = 0.0025;  // in the first cell, growing to a middle one's share
constexpr double tail_growth = 1.45;
constexpr double resolution = 2e-4;  // of the duration: clocks, and the cost of recording, are not finer
constexpr double core_share = 0.2;   // the densest part of the group, in which jitter rules
constexpr double longest_in_cores = 100.0;

struct Cells {
  std::vector<double> edges;   // s
  std::vector<double> counts;  // one more than edges: the last counts what is longer
  double segments = 0.0;
  double mean = 0.0;    // s
  double finest = 0.0;  // s, what can be told apart
  double low = 0.0;     // s, a tenth is shorter
  double middle = 0.0;  // s
};

Cells cells_of(const Durations& durations) {
  std::vector<double> sorted(durations.data(), durations.data() + durations.size());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t size = sorted.size();
  Cells cells;
  cells.segments = static_cast<double>(size);
  cells.mean = durations.mean();
  cells.low = sorted[size / 10];
  cells.middle = sorted[size / 2];
  cells.finest = resolution * cells.middle;

  const std::size_t held = std::max<std::size_t>(2, static_cast<std::size_t>(core_share * cells.segments));
  double core = sorted.back() - sorted.front();
  double core_begin = sorted.front();
  for (std::size_t i = 0; i + held < size; ++i) {
    if (sorted[i + held] - sorted[i] < core) {
      core = sorted[i + held] - sorted[i];
      core_begin = sorted[i];
    }
  }
  const double longest = core_begin + longest_in_cores * std::max(core, 2.0 * cells.finest);

  std::vector<double> shares;
  for (double share = first_share; share < 2.0 * middle_step; share *= tail_growth) shares.push_back(share);
  for (double share = 2.0 * middle_step; share <= counted_share; share += middle_step) shares.push_back(share);
  for (const double share : shares) {
    const auto index = static_cast<std::size_t>(std::lround(share * cells.segments));
    if (index < 1 || index >= size) continue;
    const double edge = std::min(0.5 * (sorted[index - 1] + sorted[index]), longest);
    if (cells.edges.empty() || edge - cells.edges.back() >= cells.finest) cells.edges.push_back(edge);
    if (edge == longest) break;
  }
  if (cells.edges.empty()) cells.edges.push_back(sorted.back());
  // That nothing is shorter than the first ones is known too.
  const double first_width = std::max(cells.edges.front() - sorted.front(), 2.0 * cells.finest);
  cells.edges.insert(cells.edges.begin(), sorted.front() - first_width);

  cells.counts.assign(cells.edges.size() + 1, 0.0);
  std::size_t cell = 0;
  for (const double duration : sorted) {
    while (cell < cells.edges.size() && duration > cells.edges[cell]) ++cell;
    cells.counts[cell] += 1.0;
  }
  return cells;
}

// -- the fit of one shape

constexpr double full_weight_segments = 1000.0;  // beyond, further segments add less and less
constexpr double usual_jitter = 0.025;           // of the duration: scale of a half-normal prior
constexpr double least_probability = 1e-7;       // of a cell: what no law explains must not decide alone
constexpr int most_steps = 25;
constexpr double hopeless = 60.0;  // nats behind the best after some steps

struct Fit {
  double baseline = 0.0;  // s
  double scale = 0.0;     // s, standard deviation of the jitter
  double variance = 0.0;  // s^2, of the baseline
  double evidence = -1e300;
};

struct Derivatives {
  double value = -1e300;             // log posterior density up to a constant
  std::array<double, 2> gradient{};  // by baseline, by log scale
  std::array<double, 3> information{};
};

Derivatives log_posterior(const DurationLaw& law, const Cells& cells, double temper, double baseline, double scale) {
  Derivatives result;
  if (baseline <= 0.0) return result;
  result.value = 0.0;
  DurationLaw::Point left{0.0, 0.0};
  double left_z = 0.0;
  for (std::size_t i = 0; i < cells.counts.size(); ++i) {
    DurationLaw::Point right{1.0, 0.0};
    double right_z = 0.0;
    if (i < cells.edges.size()) {
      right_z = (cells.edges[i] - baseline) / scale;
      right = law.at(right_z);
    }
    const double probability = std::max(0.0, right.probability - left.probability) + least_probability;
    const double by_baseline = -(right.density - left.density) / scale;
    const double by_scale = -(right_z * right.density - left_z * left.density);
    const double seen = temper * cells.counts[i] / probability;
    const double expected = temper * cells.segments / probability;
    result.value += temper * cells.counts[i] * std::log(probability);
    result.gradient[0] += seen * by_baseline;
    result.gradient[1] += seen * by_scale;
    result.information[0] += expected * by_baseline * by_baseline;
    result.information[1] += expected * by_baseline * by_scale;
    result.information[2] += expected * by_scale * by_scale;
    left = right;
    left_z = right_z;
  }
  const double jitter = scale / (baseline * usual_jitter);
  result.value += std::log(jitter) - 0.5 * jitter * jitter;
  result.gradient[0] += (jitter * jitter - 1.0) / baseline;
  result.gradient[1] += 1.0 - jitter * jitter;
  result.information[2] += 2.0 * jitter * jitter;
  return result;
}

// Levenberg and Marquardt's method with the expected information.
Fit fit_shape(const DurationLaw& law, const Cells& cells, double temper, double best_so_far) {
  const double low = law.quantile(0.1);
  const double middle = law.quantile(0.5);
  double scale = std::max(cells.finest, (cells.middle - cells.low) / std::max(middle - low, 1e-3));
  double baseline = cells.low - scale * low;
  Derivatives now = log_posterior(law, cells, temper, baseline, scale);
  double damping = 1e-3;
  for (int step = 0; step < most_steps && damping < 1e5; ++step) {
    const double a = now.information[0] * (1.0 + damping) + 1e-12 / (scale * scale);
    const double b = now.information[1];
    const double c = now.information[2] * (1.0 + damping) + 1e-9;
    const double determinant = a * c - b * b;
    if (!(determinant > 0.0)) {
      damping *= 10.0;
      continue;
    }
    const double move = (now.gradient[0] * c - now.gradient[1] * b) / determinant;
    const double grow = (a * now.gradient[1] - b * now.gradient[0]) / determinant;
    const double next_scale = std::max(cells.finest, scale * std::exp(std::clamp(grow, -0.7, 0.7)));
    const double next_baseline = baseline + std::clamp(move, -3.0 * scale, 3.0 * scale);
    const Derivatives next = log_posterior(law, cells, temper, next_baseline, next_scale);
    if (next.value <= now.value) {
      damping = std::max(8.0 * damping, 1e-2);
      continue;
    }
    const double gained = next.value - now.value;
    baseline = next_baseline;
    scale = next_scale;
    now = next;
    damping = std::max(0.2 * damping, 1e-6);
    if (gained < 1e-3) break;
    if (step >= 4 && gained < 1.0 && now.value < best_so_far - hopeless) break;
  }
  const double determinant = now.information[0] * now.information[2] - now.information[1] * now.information[1];
  if (!(determinant > 0.0) || now.value < -1e299) return {};
  return {baseline, scale, now.information[2] / determinant,
          now.value + std::log(2.0 * std::numbers::pi) - 0.5 * std::log(determinant)};
}

// -- the lattice of shapes

constexpr int hits_count = 28;
constexpr double hits_first = 0.02;
constexpr double hits_ratio = 1.3;
constexpr int delays_count = 24;
constexpr double delays_first = 0.2;
constexpr double delays_ratio = 1.35;
constexpr int stride = 3;  // of the first look
constexpr std::array jitters{Jitter::normal, Jitter::skewed, Jitter::bounded};
constexpr std::array<double, 2> exposures{1.0, 0.3};

constexpr double promising = 14.0;   // nats behind the best at the first look
constexpr double negligible = 1e-4;  // posterior weight against the largest

struct Place {
  int hits;
  int delay;
  std::size_t law;
  std::size_t exposure;
};

DurationShape shape_at(const Place& place, Jitter jitter) {
  return {hits_first * std::pow(hits_ratio, place.hits), delays_first * std::pow(delays_ratio, place.delay), place.law,
          exposures[place.exposure], jitter};
}

// Where every segment is struck many times nothing shows the jitter, and where delays are lost in it nothing shows
// them: such shapes look like others.
bool is_distinct(const Place& place) {
  const DurationShape shape = shape_at(place, Jitter::normal);
  if (place.exposure > 0 && shape.hits < 1.0) return false;
  return (shape.hits < 5.0 || shape.mean_delay <= 20.0) && shape.mean_delay * std::sqrt(shape.hits + 1.0) >= 0.5;
}

// Log prior density. Half of all groups are undisturbed. Hits and lengths of delays are of any order of magnitude, all
// alike, but such regular disturbance that nearly all segments are struck often is rarer.
constexpr double undisturbed_prior = 0.5;
constexpr double bursts_prior = 0.3;
constexpr double many_hits = 4.0;
constexpr double wide_law_prior = 0.4;  // against laws that vary as delays usually do

bool is_wide(const DelayLaw& law) {
  switch (law.family) {
    case DelayFamily::gamma: return law.parameter < 1.0;
    case DelayFamily::inverse_gaussian: return law.parameter > 2.0;
    case DelayFamily::power: return law.parameter < 2.0;
  }
  return false;
}

double log_prior(const DurationShape& shape, double distinct_shapes) {
  double prior = std::log((1.0 - undisturbed_prior) / distinct_shapes);
  if (shape.hits >= 1.0) prior += std::log(shape.exposed < 1.0 ? bursts_prior : 1.0 - bursts_prior);
  if (shape.hits > many_hits) prior -= 0.25 * std::log(shape.hits / many_hits);
  if (is_wide(delay_laws[shape.law])) prior += std::log(wide_law_prior);
  return prior;
}

// Nine equally probable values of a standard normal law.
constexpr std::array<double, 9> normal_values{-1.593, -0.967, -0.589, -0.282, 0.0, 0.282, 0.589, 0.967, 1.593};

}  // namespace

double GroupPosterior::quantile(double probability) const {
  double sum = 0.0;
  for (const WeightedValue& item : added) {
    sum += item.weight;
    if (sum >= probability) return item.value;
  }
  return added.empty() ? 0.0 : added.back().value;
}

GroupPosterior added_time(const Durations& durations, DurationLaws& laws) {
  const Cells cells = cells_of(durations);
  const double temper = full_weight_segments / (full_weight_segments + cells.segments);

  struct Candidate {
    DurationShape shape;
    Fit fit;
  };
  std::vector<Candidate> candidates;
  double best = -1e300;
  const auto consider = [&](const DurationShape& shape, double prior) {
    Fit fit = fit_shape(laws.get(shape), cells, temper, best);
    fit.evidence += prior;
    best = std::max(best, fit.evidence);
    candidates.push_back({shape, fit});
    return fit.evidence;
  };
  for (const Jitter jitter : jitters) {
    consider({.hits = 0.0, .jitter = jitter}, std::log(undisturbed_prior / jitters.size()));
  }

  std::vector<Place> lattice;
  for (std::size_t law = 0; law < delay_laws.size(); ++law) {
    for (std::size_t exposure = 0; exposure < exposures.size(); ++exposure) {
      for (int hits = 0; hits < hits_count; ++hits) {
        for (int delay = 0; delay < delays_count; ++delay) {
          const Place place{hits, delay, law, exposure};
          if (is_distinct(place)) lattice.push_back(place);
        }
      }
    }
  }
  const double distinct_shapes = static_cast<double>(lattice.size() * jitters.size());

  // A first look at every third place; then at all neighbours of those that are not far behind.
  std::vector<std::pair<Place, double>> looked;
  for (const Place& place : lattice) {
    if (place.hits % stride != 1 || place.delay % stride != 1) continue;
    const DurationShape shape = shape_at(place, jitters.front());
    looked.emplace_back(place, consider(shape, log_prior(shape, distinct_shapes)));
  }
  const double line = best - promising;
  for (const auto& [centre, evidence] : looked) {
    if (evidence < line) continue;
    for (int hits = centre.hits - 1; hits <= centre.hits + 1; ++hits) {
      for (int delay = centre.delay - 1; delay <= centre.delay + 1; ++delay) {
        const Place place{hits, delay, centre.law, centre.exposure};
        if (hits < 0 || hits >= hits_count || delay < 0 || delay >= delays_count || !is_distinct(place)) continue;
        for (const Jitter jitter : jitters) {
          if (hits == centre.hits && delay == centre.delay && jitter == jitters.front()) continue;
          const DurationShape shape = shape_at(place, jitter);
          consider(shape, log_prior(shape, distinct_shapes));
        }
      }
    }
  }

  GroupPosterior posterior;
  double total = 0.0;
  for (const Candidate& candidate : candidates) {
    const double weight = std::exp(candidate.fit.evidence - best);
    if (weight == 1.0) {
      posterior.shape = candidate.shape;
      posterior.jitter_seconds = candidate.fit.scale;
    }
    if (weight < negligible) continue;
    total += weight;
    if (candidate.shape.hits == 0.0) {
      posterior.added.push_back({0.0, weight});
      continue;
    }
    // What was added is the mean duration less b (1 + mean jitter of these very segments), which no estimate
    // of b can beat: the variance of an efficient estimate beside it is the difference of theirs (Hausman 1978).
    const double of_mean_jitter = candidate.fit.scale * candidate.fit.scale / (temper * cells.segments);
    const double deviation = std::sqrt(std::max(0.0, candidate.fit.variance - of_mean_jitter));
    for (const double normal : normal_values) {
      const double added = cells.mean - candidate.fit.baseline + deviation * normal;
      posterior.added.push_back({std::max(0.0, added), weight / normal_values.size()});
    }
  }
  for (WeightedValue& item : posterior.added) item.weight /= total;
  std::sort(posterior.added.begin(), posterior.added.end(),
            [](const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; });
  return posterior;
}

}  // namespace halcyon
