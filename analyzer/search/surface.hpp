// A response surface: a quadratic in several factors, fitted to few points of their grid, and which point to measure
// next. After the workbench paper (trials.hpp), section 4, and R. H. Myers, D. C. Montgomery, "Response Surface
// Methodology", 1995.
#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// What is varied, and the values that it can have, ascending.
struct Factor {
  std::string name;
  std::vector<double> levels;
  bool logarithmic = false;  // the quadratic is one of the logarithms of the levels
};

/// Levels such as 1, 2, 4, 8: they are more even as logarithms.
bool is_geometric(std::span<const double> levels);

using Point = std::vector<double>;  // (factors) levels

/// All points; the last factor changes first.
std::vector<Point> grid_of(std::span<const Factor> factors);

/// The terms of the quadratic at each point, (points, terms): 1, each factor, each product of two factors, and each
/// square. Factors are scaled to -1..1. A factor with two levels has no square, and one with a single level no term.
Eigen::MatrixXd quadratic_terms(std::span<const Factor> factors, std::span<const Point> points);

/// The row of `candidates` (points, terms) that, added to those in `chosen`, gives the largest determinant of X'X, and
/// is not among them. Nothing if all are chosen. det(X'X + xx') = det(X'X) (1 + x' (X'X)^-1 x), so that the inverse is
/// all that is needed; one row changes it by a matrix of rank one (Sherman and Morrison). A small multiple of the unit
/// matrix makes X'X invertible while fewer rows than terms are chosen.
std::optional<std::size_t> d_optimal_next(const Eigen::MatrixXd& candidates, std::span<const std::size_t> chosen);

struct Surface {
  std::vector<Factor> factors;
  bool logarithmic = false;  // the quadratic is the logarithm of the response
  Eigen::VectorXd coefficients;
  Eigen::MatrixXd inverse;     // of X'X
  double deviation = 0.0;      // of the points from the quadratic: standard deviation
  int degrees_of_freedom = 0;  // of it; 0: the quadratic goes through all points, and its error is unknown
  std::optional<double>
      error_left_out_percent;  // of each point, predicted from the others: mean of the absolute errors

  double at(const Point& point) const;
  /// The interval of a measurement there with this confidence, by Student's t; nothing without degrees of freedom.
  std::optional<Interval> interval_at(const Point& point, double confidence) const;
};

/// By least squares. Nothing if the points do not determine all terms, or for a logarithm of a response that is not
/// positive.
std::optional<Surface> fit_surface(std::span<const Factor> factors, std::span<const Point> points,
                                   std::span<const double> responses, bool logarithmic);
/// Fits the response or its logarithm, whichever predicts left-out points better. Fits the logarithm in any case if the
/// responses are positive, but their quadratic is not positive in the whole grid.
std::optional<Surface> fit_better_surface(std::span<const Factor> factors, std::span<const Point> points,
                                          std::span<const double> responses);

/// The mean absolute error of predictions in percent of the true values, which must not be 0.
double mean_error_percent(std::span<const double> truth, std::span<const double> predicted);

}  // namespace halcyon
