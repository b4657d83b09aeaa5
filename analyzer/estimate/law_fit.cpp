#include "analyzer/estimate/law_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace halcyon {
namespace {

// Numerics: steps of a fit.
constexpr int most_steps_of_law = 25;
constexpr double least_gain = 1e-2;  // nats of a step, which no probability shows
constexpr double first_damping_of_failure = 1e-2;
constexpr double hopeless = 60.0;  // nats behind the best
constexpr double surprise = 10.0;  // how many times what it promises a fit may still gain

constexpr double least_told_scale = 4.0;  // of the resolution

struct Derivatives {
  double value = -1e300;                // log posterior density up to a constant
  std::array<double, 2> gradient{};     // by baseline, by log scale
  std::array<double, 3> information{};  // expected: baseline twice, both, log scale twice
};

Derivatives log_posterior(const DurationLaw& law, const Cells& cells, const Weighing& weighing, double baseline,
                          double scale) {
  const double temper = weighing.temper;
  Derivatives result;
  if (baseline <= 0.0) return result;
  result.value = 0.0;
  DurationLaw::Point left{0.0, 0.0};
  double left_z = 0.0;
  const double stray = stray_share / static_cast<double>(cells.counts.size());
  const double inverse_scale = 1.0 / scale;
  const double weight = -(1.0 - stray_share);
  for (std::size_t i = 0; i < cells.counts.size(); ++i) {
    DurationLaw::Point right{1.0, 0.0};
    double right_z = 0.0;
    if (i < cells.edges.size()) {
      right_z = (cells.edges[i] - baseline) * inverse_scale;
      right = law.at(right_z);
    }
    const double probability = stray - weight * std::max(0.0, right.probability - left.probability);
    const double by_baseline = right.density - left.density;
    const double by_scale = right_z * right.density - left_z * left.density;
    const double inverse = 1.0 / probability;
    const double seen = cells.counts[i] * inverse;
    result.value += cells.counts[i] * std::log(probability);
    result.gradient[0] += seen * by_baseline;
    result.gradient[1] += seen * by_scale;
    result.information[0] += inverse * by_baseline * by_baseline;
    result.information[1] += inverse * by_baseline * by_scale;
    result.information[2] += inverse * by_scale * by_scale;
    left = right;
    left_z = right_z;
  }
  const double by_baseline = weight * inverse_scale;
  const double expected = temper * cells.segments;
  result.value *= temper;
  result.gradient[0] *= temper * by_baseline;
  result.gradient[1] *= temper * weight;
  result.information[0] *= expected * by_baseline * by_baseline;
  result.information[1] *= expected * by_baseline * weight;
  result.information[2] *= expected * weight * weight;
  const JitterPrior::Point prior = weighing.jitter.at(scale / baseline);
  // The larger the share of the time that came from outside, the rarer: the density falls linearly, to 0 at all of it. A
  // baseline above the mean is chance, and no more probable than at the mean.
  const double of_share = std::min(1.0, baseline / cells.mean);
  result.value += std::log(scale / baseline) + prior.log_density + std::log(of_share);
  result.gradient[0] -= (prior.slope + (of_share < 1.0 ? 0.0 : 1.0)) / baseline;
  result.gradient[1] += 1.0 + prior.slope;
  result.information[2] += prior.curvature;
  return result;
}

}  // namespace

FitStart rough_start(const DurationLaw& law, const Cells& cells) {
  const double low = law.quantile(0.1);
  const double middle = law.quantile(0.5);
  const double scale = std::max(cells.finest, (cells.middle - cells.low) / std::max(middle - low, 1e-3));
  return {cells.low - scale * low, scale};
}

LawFit fit_law(const DurationLaw& law, const Cells& cells, const Weighing& weighing, double best_so_far,
               FitStart start) {
  double scale = start.scale;
  double baseline = start.baseline;
  Derivatives now = log_posterior(law, cells, weighing, baseline, scale);
  double damping = 1e-3;
  for (int step = 0; step < most_steps_of_law && damping < 1e5; ++step) {
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
    // What a full step would gain of a parabola. Steps that are damped after a failure promise less and less.
    const double promised = 0.5 * (now.gradient[0] * move + now.gradient[1] * grow);
    if (promised < least_gain) {
      // So short a step is right without a look at where it leads, unless the one before was wrong.
      if (damping < first_damping_of_failure) {
        baseline += move;
        scale = std::max(cells.finest, scale * std::exp(grow));
        now.value += promised;
      }
      break;
    }
    if (now.value + surprise * promised < best_so_far - hopeless) break;
    const double next_scale = std::max(cells.finest, scale * std::exp(std::clamp(grow, -0.7, 0.7)));
    const double next_baseline = baseline + std::clamp(move, -3.0 * scale, 3.0 * scale);
    const Derivatives next = log_posterior(law, cells, weighing, next_baseline, next_scale);
    if (next.value <= now.value) {
      damping = std::max(8.0 * damping, first_damping_of_failure);
      continue;
    }
    const double gained = next.value - now.value;
    baseline = next_baseline;
    scale = next_scale;
    now = next;
    damping = std::max(0.2 * damping, 1e-6);
    if (gained < least_gain) break;
  }
  const double determinant = now.information[0] * now.information[2] - now.information[1] * now.information[1];
  if (!(determinant > 0.0) || now.value < -1e299) return {};
  return {baseline, scale, now.information[2] / determinant,
          now.value + std::log(2.0 * std::numbers::pi) - 0.5 * std::log(determinant)};
}

bool is_told_from_clock(const LawFit& fit, const Cells& cells) { return fit.scale >= least_told_scale * cells.finest; }

double dispersion_of(const LawFit& fit, const DurationLaw& law, const Cells& cells, const Weighing& weighing) {
  constexpr double parameters = 3.0;  // Numerics: of a law
  const double freedom = static_cast<double>(cells.counts.size()) - parameters;
  if (freedom < 1.0) return 1.0;
  double statistic = 0.0;
  double left = 0.0;
  for (std::size_t i = 0; i < cells.counts.size(); ++i) {
    const bool is_last = i == cells.edges.size();
    const double right = is_last ? 1.0 : law.at((cells.edges[i] - fit.baseline) / fit.scale).probability;
    const double stray = stray_share / static_cast<double>(cells.counts.size());
    const double expected = cells.segments * (stray + (1.0 - stray_share) * (right - left));
    if (cells.counts[i] > 0.0) statistic += 2.0 * cells.counts[i] * std::log(cells.counts[i] / expected);
    left = right;
  }
  return weighing.temper * statistic / freedom;
}

}  // namespace halcyon
