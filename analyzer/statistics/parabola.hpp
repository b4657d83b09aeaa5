// A parabola through points, and a test whether it explains them.
#pragma once

#include <Eigen/Core>

namespace halcyon {

/// y = c0 + c1 x + c2 x^2 by least squares.
struct Parabola {
  static constexpr Eigen::Index coefficient_count = 3;
  Eigen::Vector3d coefficients;
  double residual = 0.0;   // sum of squared distances of the points from it
  double variation = 0.0;  // of the points from their mean

  Eigen::ArrayXd at(const Eigen::ArrayXd& x) const;
  /// The F test of a parabola against no change at all.
  bool is_significant(Eigen::Index points, double significance) const;
};
Parabola fit_parabola(const Eigen::ArrayXd& x, const Eigen::ArrayXd& y);

/// The value below which a quarter lies; needs at least one.
double lower_quartile(Eigen::ArrayXd values);

}  // namespace halcyon
