#include "analyzer/repeat/work_rate.hpp"

#include <Eigen/Core>
#include <Eigen/QR>

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>

#include "analyzer/repeat/dependence.hpp"
#include "analyzer/statistics/line.hpp"
#include "analyzer/statistics/student.hpp"

namespace halcyon {
namespace {

// The bits of a number from right to left behind the binary point: 1/2, 1/4, 3/4, 1/8, 5/8, ... (J. G. van der Corput).
double midpoint(std::size_t number) {
  double result = 0.0;
  for (double half = 0.5; number > 0; number /= 2, half /= 2.0) result += number % 2 == 1 ? half : 0.0;
  return result;
}

/// The runs as columns; each weighs by how well its time is known.
struct Points {
  Eigen::ArrayXd work;
  Eigen::ArrayXd seconds;
  Eigen::ArrayXd weights;
};

Points points_of(std::span<const WorkedRun> runs, WorkWeights weights) {
  const auto count = static_cast<Eigen::Index>(runs.size());
  Points points{Eigen::ArrayXd(count), Eigen::ArrayXd(count), Eigen::ArrayXd::Ones(count)};
  for (Eigen::Index i = 0; i < count; ++i) {
    points.work[i] = runs[static_cast<std::size_t>(i)].work;
    points.seconds[i] = runs[static_cast<std::size_t>(i)].seconds;
  }
  if (weights == WorkWeights::relative) points.weights = points.seconds.mean() / points.seconds;
  points.weights = points.weights.square();
  return points;
}

// Whether a parabola leaves significantly less over: the F test of one coefficient more.
bool is_curved(const Points& points, const Line& line) {
  constexpr double significance = 0.01;
  constexpr Eigen::Index coefficients = 3;
  const Eigen::Index freedom = points.work.size() - coefficients;
  if (freedom < 1 || line.residual <= 0.0) return false;
  const Eigen::ArrayXd scaled = points.work / points.work.abs().maxCoeff();
  const Eigen::ArrayXd roots = points.weights.sqrt();
  Eigen::MatrixXd design(points.work.size(), coefficients);
  design << roots, roots * scaled, roots * scaled.square();
  const Eigen::VectorXd weighted = roots * points.seconds;
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(design);
  if (solver.rank() < coefficients) return false;  // fewer than three different amounts
  const double left = (weighted - design * solver.solve(weighted)).squaredNorm();
  if (left <= 0.0) return true;
  const double ratio = std::max(0.0, (line.residual - left) / (left / static_cast<double>(freedom)));
  const boost::math::fisher_f law(1.0, static_cast<double>(freedom));
  return boost::math::cdf(boost::math::complement(law, ratio)) <= significance;
}

std::vector<WorkCaveat> caveats_of(const Points& points, const Line& line, const EstimatedCost& fixed) {
  std::vector<WorkCaveat> caveats;
  constexpr double least_range = 2.0;
  if (points.work.maxCoeff() < least_range * points.work.minCoeff()) caveats.push_back(WorkCaveat::narrow_range);
  if (is_curved(points, line)) caveats.push_back(WorkCaveat::not_linear);
  const Eigen::ArrayXd left = points.weights.sqrt() * (points.seconds - line.intercept - line.slope * points.work);
  const std::span<const double> left_over(left.data(), static_cast<std::size_t>(left.size()));
  if (dependence_of(left_over, interval_confidence).is_significant) caveats.push_back(WorkCaveat::correlated);
  if (fixed.interval_seconds.high < 0.0) caveats.push_back(WorkCaveat::negative_fixed_cost);
  return caveats;
}

}  // namespace

std::uint64_t work_of_run(std::size_t run, const WorkRange& range) {
  if (range.to <= range.from) return range.from;
  if (run == 0) return range.from;
  if (run == 1) return range.to;
  const double share = midpoint(run - 1);
  return range.from + static_cast<std::uint64_t>(std::llround(share * static_cast<double>(range.to - range.from)));
}

std::optional<WorkRate> work_rate(std::span<const WorkedRun> runs, double confidence, WorkWeights weights) {
  if (runs.empty()) return std::nullopt;
  const Points points = points_of(runs, weights);
  const std::optional<Line> line = fit_line(points.work, points.seconds, points.weights);
  if (!line) return std::nullopt;
  const double quantile = student_quantile_of_interval(confidence, static_cast<double>(line->freedom));
  WorkRate rate;
  rate.runs = runs.size();
  rate.fixed = {line->intercept, interval_around(line->intercept, quantile * line->intercept_error)};
  rate.unit = {line->slope, interval_around(line->slope, quantile * line->slope_error)};
  rate.units_per_second = 1.0 / line->slope;
  if (rate.unit.interval_seconds.low > 0.0) {
    rate.rate_interval = Interval{1.0 / rate.unit.interval_seconds.high, 1.0 / rate.unit.interval_seconds.low};
  }
  rate.residual_percent = 100.0 * line->residual_deviation() / points.seconds.mean();
  rate.caveats = caveats_of(points, *line, rate.fixed);
  return rate;
}

std::optional<double> half_width_percent(const WorkRate& rate) {
  const Interval& interval = rate.unit.interval_seconds;
  if (interval.low <= 0.0) return std::nullopt;
  return 50.0 * (interval.high - interval.low) / rate.unit.seconds;
}

}  // namespace halcyon
