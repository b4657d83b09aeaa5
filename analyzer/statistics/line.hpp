// A line through points.
#pragma once

#include <Eigen/Core>

#include <optional>

namespace halcyon {

/// y = intercept + slope x by weighted least squares, with the standard errors of both.
struct Line {
  double intercept = 0.0;
  double slope = 0.0;
  double intercept_error = 0.0;
  double slope_error = 0.0;
  double residual = 0.0;   // weighted sum of squared distances of the points from it
  double variation = 0.0;  // of the points from their weighted mean; of a line through the origin, from 0
  Eigen::Index freedom = 0;

  double residual_deviation() const;  // sqrt(residual / freedom)
  double r_squared() const;
};
/// None with fewer than three points, or if all have the same x.
std::optional<Line> fit_line(const Eigen::ArrayXd& x, const Eigen::ArrayXd& y, const Eigen::ArrayXd& weights);
/// None with fewer than two points, or if all x are 0.
std::optional<Line> fit_line_through_origin(const Eigen::ArrayXd& x, const Eigen::ArrayXd& y);

}  // namespace halcyon
