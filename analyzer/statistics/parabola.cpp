#include "analyzer/statistics/parabola.hpp"

#include <Eigen/QR>

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>

#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

Eigen::MatrixXd design_at(const Eigen::ArrayXd& x) {
  Eigen::MatrixXd design(x.size(), Parabola::coefficient_count);
  design << Eigen::ArrayXd::Ones(x.size()), x, x.square();
  return design;
}

}  // namespace

Eigen::ArrayXd Parabola::at(const Eigen::ArrayXd& x) const {
  return coefficients[0] + x * (coefficients[1] + x * coefficients[2]);
}

bool Parabola::is_significant(Eigen::Index points, double significance) const {
  if (points <= coefficient_count || variation <= 0.0) return false;
  if (residual <= 0.0) return true;
  const double explained = (variation - residual) / static_cast<double>(coefficient_count - 1);
  const double left = residual / static_cast<double>(points - coefficient_count);
  const boost::math::fisher_f law(static_cast<double>(coefficient_count - 1),
                                  static_cast<double>(points - coefficient_count));
  return boost::math::cdf(boost::math::complement(law, std::max(0.0, explained / left))) <= significance;
}

Parabola fit_parabola(const Eigen::ArrayXd& x, const Eigen::ArrayXd& y) {
  Parabola parabola;
  parabola.coefficients = design_at(x).colPivHouseholderQr().solve(y.matrix());
  parabola.residual = (parabola.at(x) - y).square().sum();
  parabola.variation = (y - y.mean()).square().sum();
  return parabola;
}

double lower_quartile(Eigen::ArrayXd values) {
  const auto size = static_cast<std::size_t>(values.size());
  return of_rank({values.data(), size}, size / 4);
}

}  // namespace halcyon
