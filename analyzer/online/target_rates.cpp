#include "analyzer/online/target_rates.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <utility>

namespace halcyon {
namespace {

// Least squares by ridge regression, without an intercept and with no coefficient below 0: the most negative one is set
// to 0, and the others are fitted again. Just cutting it off would make the others wrong where metrics are correlated.
Eigen::VectorXd non_negative_ridge(const Eigen::MatrixXd& products, const Eigen::VectorXd& with_duration,
                                   double ridge) {
  std::vector<Eigen::Index> used;
  for (Eigen::Index k = 0; k < products.rows(); ++k) {
    if (products(k, k) > 0.0) used.push_back(k);
  }
  Eigen::VectorXd result = Eigen::VectorXd::Zero(products.rows());
  while (!used.empty()) {
    // In units in which each metric has a mean square of 1.
    const Eigen::VectorXd scale = products.diagonal()(used).cwiseSqrt();
    Eigen::MatrixXd matrix =
        scale.cwiseInverse().asDiagonal() * products(used, used) * scale.cwiseInverse().asDiagonal();
    matrix.diagonal().array() += ridge;
    const Eigen::VectorXd right = with_duration(used).cwiseQuotient(scale);
    const Eigen::VectorXd solution = matrix.ldlt().solve(right).cwiseQuotient(scale);
    Eigen::Index worst = 0;
    if (solution.cwiseProduct(scale).minCoeff(&worst) >= 0.0) {
      result(used) = solution;
      break;
    }
    used.erase(used.begin() + worst);
  }
  return result;
}

}  // namespace

TargetRates::TargetRates(Eigen::Index metrics, const CalibrationSettings& settings)
    : TargetRates(
          LearnedRates{.products = Eigen::MatrixXd::Zero(metrics, metrics), .durations = Eigen::VectorXd::Zero(metrics)},
          metrics, settings) {}

TargetRates::TargetRates(LearnedRates kept, Eigen::Index metrics, const CalibrationSettings& settings)
    : settings_(settings), learned_(std::move(kept)), seconds_per_unit_(Eigen::VectorXd::Zero(metrics)) {
  if (learned_.testpoints > 0) solve();
}

void TargetRates::add(const ProgressOfMetrics& progress, double seconds) {
  ++learned_.testpoints;
  const double weight = 1.0 / std::min(static_cast<double>(learned_.testpoints), settings_.averaged_testpoints);
  learned_.rate += weight * (progress[0] / seconds - learned_.rate);
  learned_.products += weight * (progress * progress.transpose() - learned_.products);
  learned_.durations += weight * (progress * seconds - learned_.durations);
  solve();
}

void TargetRates::solve() {
  if (seconds_per_unit_.size() == 1) {
    seconds_per_unit_[0] = learned_.rate > 0.0 ? 1.0 / learned_.rate : 0.0;
  } else {
    seconds_per_unit_ = non_negative_ridge(learned_.products, learned_.durations, settings_.ridge);
  }
}

}  // namespace halcyon
