#include "analyzer/estimate/other_work.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace halcyon {
namespace {

constexpr double least_longer = 0.01;  // of the baseline: less is jitter
constexpr double most_longer = 1.0;    // of the baseline
constexpr int most_steps_of_two = 40;  // Numerics

using Parameters = Eigen::Vector4d;  // baseline, log scale, longer, logit of the share

double below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

Eigen::ArrayXd probabilities(const Cells& cells, const Parameters& at) {
  const double baseline = at[0];
  const double scale = std::exp(at[1]);
  const double other = baseline + at[2];
  const double other_scale = scale * other / baseline;
  const double share = 1.0 / (1.0 + std::exp(-at[3]));
  Eigen::ArrayXd result(static_cast<Eigen::Index>(cells.counts.size()));
  double left = 0.0;
  for (std::size_t i = 0; i < cells.counts.size(); ++i) {
    double right = 1.0;
    if (i < cells.edges.size()) {
      right = (1.0 - share) * below((cells.edges[i] - baseline) / scale) +
              share * below((cells.edges[i] - other) / other_scale);
    }
    result[static_cast<Eigen::Index>(i)] = std::max(0.0, right - left);
    left = right;
  }
  return stray_share / static_cast<double>(cells.counts.size()) + (1.0 - stray_share) * result;
}

struct FittedWork {
  Parameters at;
  double value = -1e300;
  Eigen::Matrix4d information;
};

bool is_allowed(const Parameters& at) {
  return at[0] > 0.0 && at[2] >= least_longer * at[0] && at[2] <= most_longer * at[0];
}

double log_prior(const Cells& cells, const JitterPrior& jitter, const Parameters& at) {
  const double share = 1.0 / (1.0 + std::exp(-at[3]));
  // Any share has the same density, and any order of magnitude of the distance. The prior of the jitter is that of
  // other laws.
  return -std::log(std::log(most_longer / least_longer) * at[2]) + std::log(share * (1.0 - share)) + at[1] -
         std::log(at[0]) + jitter.at(std::exp(at[1]) / at[0]).log_density + std::log(at[0] / cells.mean);
}

// What the prior itself tells of distance and share: the inverse of its variance, and its curvature. Where the
// durations tell nothing, as of two kinds that are nearer to each other than the jitter, Laplace's integral would
// exceed the prior.
Eigen::Matrix4d prior_information(const Parameters& at) {
  const double share = 1.0 / (1.0 + std::exp(-at[3]));
  const double magnitudes = std::log(most_longer / least_longer);
  return Eigen::Vector4d(0.0, 0.0, 12.0 / (magnitudes * magnitudes * at[2] * at[2]), 2.0 * share * (1.0 - share))
      .asDiagonal();
}

FittedWork fit(const Cells& cells, const JitterPrior& jitter, double temper, Parameters at) {
  const Eigen::Map<const Eigen::ArrayXd> counts(cells.counts.data(), static_cast<Eigen::Index>(cells.counts.size()));
  const auto value_at = [&](const Parameters& place, const Eigen::ArrayXd& probability) {
    if (!is_allowed(place) || std::exp(place[1]) < cells.finest) return -1e300;
    return temper * (counts * probability.log()).sum() + log_prior(cells, jitter, place);
  };
  FittedWork now{.at = at};
  Eigen::ArrayXd probability = probabilities(cells, at);
  now.value = value_at(at, probability);
  double damping = 1e-3;
  for (int step = 0; step < most_steps_of_two && damping < 1e6; ++step) {
    const double scale = std::exp(now.at[1]);
    const Parameters steps(1e-4 * scale, 1e-4, 1e-4 * scale, 1e-4);
    Eigen::Matrix<double, Eigen::Dynamic, 4> slopes(probability.size(), 4);
    for (int k = 0; k < 4; ++k) {
      Parameters moved = now.at;
      moved[k] += steps[k];
      slopes.col(k) = ((probabilities(cells, moved) - probability) / steps[k]).matrix();
    }
    const Eigen::ArrayXd weight = temper * cells.segments / probability;
    now.information = slopes.transpose() * weight.matrix().asDiagonal() * slopes;
    const Eigen::Vector4d gradient = slopes.transpose() * (temper * counts / probability).matrix();
    Eigen::Matrix4d damped = now.information;
    damped.diagonal() *= 1.0 + damping;
    Parameters move = damped.ldlt().solve(gradient);
    if (!move.allFinite()) break;
    move[0] = std::clamp(move[0], -2.0 * scale, 2.0 * scale);
    move[1] = std::clamp(move[1], -0.7, 0.7);
    move[2] = std::clamp(move[2], -2.0 * scale, 2.0 * scale);
    move[3] = std::clamp(move[3], -1.0, 1.0);
    const Parameters next = now.at + move;
    const Eigen::ArrayXd next_probability = probabilities(cells, next);
    const double next_value = value_at(next, next_probability);
    if (next_value <= now.value) {
      damping = std::max(8.0 * damping, 1e-2);
      continue;
    }
    const double gained = next_value - now.value;
    now.at = next;
    now.value = next_value;
    probability = next_probability;
    damping *= 0.3;
    if (gained < 1e-3) break;
  }
  return now;
}

// The start of a fit: the group is cut into a shorter and a longer part, whose means and deviation are taken.
Parameters start_at(const Cells& cells, double share) {
  double counted = 0.0;
  std::array<double, 2> size{};
  std::array<double, 2> mean{};
  std::array<double, 2> square{};
  for (std::size_t i = 1; i < cells.edges.size(); ++i) {
    const double middle = 0.5 * (cells.edges[i - 1] + cells.edges[i]);
    const std::size_t part = counted < (1.0 - share) * cells.segments ? 0 : 1;
    counted += cells.counts[i];
    size[part] += cells.counts[i];
    mean[part] += cells.counts[i] * middle;
    square[part] += cells.counts[i] * middle * middle;
  }
  double variance = 0.0;
  for (std::size_t part = 0; part < 2; ++part) {
    if (size[part] <= 0.0) return Parameters::Constant(-1.0);
    mean[part] /= size[part];
    variance += std::max(0.0, square[part] - size[part] * mean[part] * mean[part]);
  }
  const double scale = std::max(std::sqrt(variance / (size[0] + size[1])), 2.0 * cells.finest);
  return {mean[0], std::log(scale), mean[1] - mean[0], std::log(share / (1.0 - share))};
}

}  // namespace

std::optional<OtherWork> fit_other_work(const Cells& cells, const JitterPrior& jitter, double temper) {
  FittedWork best;
  for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    const Parameters start = start_at(cells, share);
    if (!is_allowed(start)) continue;
    const FittedWork found = fit(cells, jitter, temper, start);
    if (found.value > best.value) best = found;
  }
  if (best.value < -1e299) return std::nullopt;
  const double determinant = (best.information + prior_information(best.at)).determinant();
  if (!(determinant > 0.0)) return std::nullopt;
  return OtherWork{.baseline = best.at[0],
                   .longer = best.at[2],
                   .share = 1.0 / (1.0 + std::exp(-best.at[3])),
                   .scale = std::exp(best.at[1]),
                   .evidence = best.value + 2.0 * std::log(2.0 * std::numbers::pi) - 0.5 * std::log(determinant)};
}

}  // namespace halcyon
