#include "analyzer/statistics/line.hpp"

#include <cmath>

namespace halcyon {

double Line::residual_deviation() const { return std::sqrt(residual / static_cast<double>(freedom)); }

double Line::r_squared() const { return 1.0 - residual / variation; }

std::optional<Line> fit_line(const Eigen::ArrayXd& x, const Eigen::ArrayXd& y, const Eigen::ArrayXd& weights) {
  if (x.size() < 3 || (x == x[0]).all()) return std::nullopt;
  const double sum = weights.sum();
  const double middle_x = (weights * x).sum() / sum;
  const double middle_y = (weights * y).sum() / sum;
  const Eigen::ArrayXd from_x = x - middle_x;
  const Eigen::ArrayXd from_y = y - middle_y;
  const double spread = (weights * from_x.square()).sum();
  Line line;
  line.slope = (weights * from_x * from_y).sum() / spread;
  line.intercept = middle_y - line.slope * middle_x;
  line.residual = (weights * (from_y - line.slope * from_x).square()).sum();
  line.variation = (weights * from_y.square()).sum();
  line.freedom = x.size() - 2;
  const double variance = line.residual / static_cast<double>(line.freedom);
  line.slope_error = std::sqrt(variance / spread);
  line.intercept_error = std::sqrt(variance * (1.0 / sum + middle_x * middle_x / spread));
  return line;
}

std::optional<Line> fit_line_through_origin(const Eigen::ArrayXd& x, const Eigen::ArrayXd& y) {
  if (x.size() < 2 || (x == 0.0).all()) return std::nullopt;
  const double spread = x.square().sum();
  Line line;
  line.slope = (x * y).sum() / spread;
  line.residual = (y - line.slope * x).square().sum();
  line.variation = y.square().sum();
  line.freedom = x.size() - 1;
  line.slope_error = std::sqrt(line.residual / static_cast<double>(line.freedom) / spread);
  return line;
}

}  // namespace halcyon
