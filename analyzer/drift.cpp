#include "analyzer/drift.hpp"

#include <Eigen/QR>

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>

namespace halcyon {
namespace {

constexpr Eigen::Index fewest_in_block = 15;  // for a lower quartile worth its name
constexpr Eigen::Index fewest_blocks = 6;     // three of them fix a parabola
constexpr Eigen::Index most_blocks = 24;
constexpr double least_explained = 0.8;  // of the variance between blocks
constexpr double significance = 1e-3;
constexpr Eigen::Index coefficients = 3;

double lower_quartile(Durations block) {
  double* const quarter = block.data() + block.size() / 4;
  std::nth_element(block.data(), quarter, block.data() + block.size());
  return *quarter;
}

double residual_of_best_step(const Durations& levels) {
  double best = (levels - levels.mean()).square().sum();
  for (Eigen::Index at = 1; at < levels.size(); ++at) {
    const auto before = levels.head(at);
    const auto after = levels.tail(levels.size() - at);
    best = std::min(best, (before - before.mean()).square().sum() + (after - after.mean()).square().sum());
  }
  return best;
}

Eigen::MatrixXd parabola_at(const Durations& times) {
  Eigen::MatrixXd design(times.size(), coefficients);
  design << Durations::Ones(times.size()), times, times.square();
  return design;
}

}  // namespace

Durations drift_of(const Durations& durations) {
  const Eigen::Index size = durations.size();
  const Eigen::Index blocks = std::min(most_blocks, size / fewest_in_block);
  const Durations none = Durations::Ones(size);
  if (blocks < fewest_blocks || durations.minCoeff() <= 0.0) return none;

  Durations levels(blocks);
  Durations times(blocks);
  for (Eigen::Index block = 0; block < blocks; ++block) {
    const Eigen::Index from = block * size / blocks;
    const Eigen::Index to = (block + 1) * size / blocks;
    levels[block] = std::log(lower_quartile(durations.segment(from, to - from)));
    times[block] = static_cast<double>(from + to) / static_cast<double>(size) - 1.0;
  }
  const Eigen::VectorXd parabola = parabola_at(times).colPivHouseholderQr().solve(levels.matrix());
  const double residual = (parabola_at(times) * parabola - levels.matrix()).squaredNorm();
  const double variation = (levels - levels.mean()).square().sum();
  if (variation <= 0.0 || residual > (1.0 - least_explained) * variation) return none;
  if (residual > 0.0) {
    const double explained = (variation - residual) / static_cast<double>(coefficients - 1);
    const double left = residual / static_cast<double>(blocks - coefficients);
    const boost::math::fisher_f law(static_cast<double>(coefficients - 1), static_cast<double>(blocks - coefficients));
    if (boost::math::cdf(boost::math::complement(law, explained / left)) > significance) return none;
  }
  if (residual >= residual_of_best_step(levels)) return none;

  const Durations drift = (parabola_at(Durations::LinSpaced(size, -1.0, 1.0)) * parabola).array().exp();
  return drift / drift.mean();
}

}  // namespace halcyon
