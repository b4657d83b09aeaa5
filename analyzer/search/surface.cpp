#include "analyzer/search/surface.hpp"

#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace halcyon {
namespace {

constexpr double ridge = 1e-6;          // for X'X of few rows; factors are scaled to 1
constexpr double least_freedom = 1e-9;  // of a point from the quadratic that goes through it

// -1 at the first level, 1 at the last.
double scaled(const Factor& factor, double level) {
  const auto coded = [&factor](double value) { return factor.logarithmic ? std::log(value) : value; };
  const double low = coded(factor.levels.front());
  const double high = coded(factor.levels.back());
  return (2.0 * coded(level) - low - high) / (high - low);
}

}  // namespace

bool is_geometric(std::span<const double> levels) {
  if (levels.size() < 3 || levels.front() <= 0.0) return false;
  // How far the middle level lies from the middle, on each scale.
  const double middle = levels[levels.size() / 2];
  const double low = levels.front();
  const double high = levels.back();
  const double even = static_cast<double>(levels.size() / 2) / static_cast<double>(levels.size() - 1);
  const double linear = (middle - low) / (high - low);
  const double logarithmic = std::log(middle / low) / std::log(high / low);
  return std::abs(logarithmic - even) < std::abs(linear - even);
}

std::vector<Point> grid_of(std::span<const Factor> factors) {
  std::vector<Point> grid{{}};
  for (const Factor& factor : factors) {
    std::vector<Point> finer;
    for (const Point& point : grid) {
      for (const double level : factor.levels) {
        finer.push_back(point);
        finer.back().push_back(level);
      }
    }
    grid = std::move(finer);
  }
  return grid;
}

Eigen::MatrixXd quadratic_terms(std::span<const Factor> factors, std::span<const Point> points) {
  const auto rows = static_cast<Eigen::Index>(points.size());
  std::vector<Eigen::ArrayXd> columns{Eigen::ArrayXd::Ones(rows)};
  std::vector<Eigen::ArrayXd> linear;
  std::vector<Eigen::ArrayXd> squares;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].levels.size() < 2) continue;
    Eigen::ArrayXd column(rows);
    for (Eigen::Index row = 0; row < rows; ++row) {
      column[row] = scaled(factors[f], points[static_cast<std::size_t>(row)][f]);
    }
    if (factors[f].levels.size() > 2) squares.emplace_back(column.square());
    linear.push_back(std::move(column));
  }
  columns.insert(columns.end(), linear.begin(), linear.end());
  for (std::size_t a = 0; a < linear.size(); ++a) {
    for (std::size_t b = a + 1; b < linear.size(); ++b) columns.emplace_back(linear[a] * linear[b]);
  }
  columns.insert(columns.end(), squares.begin(), squares.end());
  Eigen::MatrixXd terms(rows, static_cast<Eigen::Index>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) terms.col(static_cast<Eigen::Index>(i)) = columns[i].matrix();
  return terms;
}

std::optional<std::size_t> d_optimal_next(const Eigen::MatrixXd& candidates, std::span<const std::size_t> chosen) {
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(candidates.cols(), candidates.cols()) / ridge;
  for (const std::size_t row : chosen) {
    const Eigen::VectorXd x = candidates.row(static_cast<Eigen::Index>(row)).transpose();
    const Eigen::VectorXd moved = inverse * x;
    inverse -= moved * moved.transpose() / (1.0 + x.dot(moved));
  }
  std::optional<std::size_t> best;
  double gain = 0.0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(candidates.rows()); ++row) {
    if (std::find(chosen.begin(), chosen.end(), row) != chosen.end()) continue;
    const Eigen::VectorXd x = candidates.row(static_cast<Eigen::Index>(row)).transpose();
    const double its_gain = x.dot(inverse * x);
    if (best && its_gain <= gain) continue;
    best = row;
    gain = its_gain;
  }
  return best;
}

double Surface::at(const Point& point) const {
  const double value = quadratic_terms(factors, std::span(&point, 1)).row(0).dot(coefficients);
  return logarithmic ? std::exp(value) : value;
}

std::optional<Interval> Surface::interval_at(const Point& point, double confidence) const {
  if (degrees_of_freedom < 1) return std::nullopt;
  const Eigen::VectorXd x = quadratic_terms(factors, std::span(&point, 1)).row(0).transpose();
  const boost::math::students_t law(degrees_of_freedom);
  const double half_width =
      boost::math::quantile(law, 0.5 + confidence / 2.0) * deviation * std::sqrt(1.0 + x.dot(inverse * x));
  const Interval interval = interval_around(x.dot(coefficients), half_width);
  return logarithmic ? Interval{std::exp(interval.low), std::exp(interval.high)} : interval;
}

std::optional<Surface> fit_surface(std::span<const Factor> factors, std::span<const Point> points,
                                   std::span<const double> responses, bool logarithmic) {
  const Eigen::MatrixXd terms = quadratic_terms(factors, points);
  const Eigen::Map<const Eigen::ArrayXd> measured(responses.data(), static_cast<Eigen::Index>(responses.size()));
  if (logarithmic && (measured <= 0.0).any()) return std::nullopt;
  const Eigen::VectorXd y = logarithmic ? measured.log().matrix().eval() : measured.matrix().eval();
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> decomposed(terms);
  if (terms.rows() < terms.cols() || decomposed.rank() < terms.cols()) return std::nullopt;

  Surface surface{.factors = {factors.begin(), factors.end()}, .logarithmic = logarithmic};
  surface.coefficients = decomposed.solve(y);
  surface.inverse = (terms.transpose() * terms).inverse();
  surface.degrees_of_freedom = static_cast<int>(terms.rows() - terms.cols());
  if (surface.degrees_of_freedom < 1) return surface;
  const Eigen::VectorXd residuals = y - terms * surface.coefficients;
  surface.deviation = std::sqrt(residuals.squaredNorm() / surface.degrees_of_freedom);
  // The residual of a point that is left out is r / (1 - h), h the diagonal of X (X'X)^-1 X'.
  const Eigen::ArrayXd freedom = 1.0 - ((terms * surface.inverse).cwiseProduct(terms)).rowwise().sum().array();
  if ((freedom < least_freedom).any()) return surface;  // a point that alone determines a term
  Eigen::ArrayXd predicted = y.array() - residuals.array() / freedom;
  if (logarithmic) predicted = predicted.exp();
  const double error =
      mean_error_percent(responses, std::span(predicted.data(), static_cast<std::size_t>(predicted.size())));
  if (std::isfinite(error)) surface.error_left_out_percent = error;  // a response may be 0
  return surface;
}

std::optional<Surface> fit_better_surface(std::span<const Factor> factors, std::span<const Point> points,
                                          std::span<const double> responses) {
  const std::optional<Surface> plain = fit_surface(factors, points, responses, false);
  const std::optional<Surface> logarithmic = fit_surface(factors, points, responses, true);
  if (!plain || !logarithmic) return plain;
  const std::vector<Point> grid = grid_of(factors);
  if (std::any_of(grid.begin(), grid.end(), [&plain](const Point& point) { return plain->at(point) <= 0.0; })) {
    return logarithmic;
  }
  if (!plain->error_left_out_percent || !logarithmic->error_left_out_percent) return plain;
  return *logarithmic->error_left_out_percent < *plain->error_left_out_percent ? logarithmic : plain;
}

double mean_error_percent(std::span<const double> truth, std::span<const double> predicted) {
  double sum = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) sum += std::abs((predicted[i] - truth[i]) / truth[i]);
  return 100.0 * sum / static_cast<double>(truth.size());
}

}  // namespace halcyon
