// The rates at which a program makes progress when nothing contends with it, learned while it runs. Douceur and Bolosky
// (SOSP 1999), sections 4.3, 4.4, 6.2 and 6.3.
#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halcyon {

using ProgressOfMetrics = Eigen::VectorXd;  // (metrics) each in its own unit, since the last testpoint

struct CalibrationSettings {
  /// Testpoints over which rates are averaged: each new one has the weight 1 / n (equation 5). While there are fewer,
  /// all of them have equal weights.
  double averaged_testpoints = 10'000.0;
  /// What is added to the diagonal of the regression's matrix, as a share of it: metrics have different units. The
  /// paper does not give its value.
  double ridge = 1e-3;
};

/// The learned values, to be kept until the next run of the program.
struct LearnedRates {
  std::uint64_t testpoints = 0;
  double rate = 0.0;          // with one metric: units/s (equation 4)
  Eigen::MatrixXd products;   // with several: means of p_j p_k (equation 9)
  Eigen::VectorXd durations;  // and of p_k d, d in s (equation 10)
};

class TargetRates {
 public:
  TargetRates(Eigen::Index metrics, const CalibrationSettings& settings);
  /// `kept` must have the same number of metrics.
  TargetRates(LearnedRates kept, Eigen::Index metrics, const CalibrationSettings& settings);

  /// A testpoint: its progress, and its seconds, above 0.
  void add(const ProgressOfMetrics& progress, double seconds);

  /// How long that progress takes without contention: sum of p_k / rho_k (equation 8). 0 before the first testpoint.
  double target_seconds(const ProgressOfMetrics& progress) const { return progress.dot(seconds_per_unit_); }
  /// (metrics) 1 / rho_k; 0 for a metric that takes no time.
  const Eigen::VectorXd& seconds_per_unit() const { return seconds_per_unit_; }
  const LearnedRates& learned() const { return learned_; }

 private:
  void solve();

  CalibrationSettings settings_;
  LearnedRates learned_;
  Eigen::VectorXd seconds_per_unit_;
};

}  // namespace halcyon
