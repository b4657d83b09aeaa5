#include "analyzer/repeat/work_rate.hpp"

#include <Eigen/Core>
#include <Eigen/QR>

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>

#include "analyzer/repeat/narrowing.hpp"
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
    points.seconds[i] = runs[static_cast<std::size_t>(i)].undisturbed.seconds;
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

// Along the runs.
Dependence dependence_of_residuals(const Points& points, const Line& line) {
  const Eigen::ArrayXd left = points.weights.sqrt() * (points.seconds - line.intercept - line.slope * points.work);
  return dependence_of({left.data(), static_cast<std::size_t>(left.size())}, interval_confidence);
}

std::vector<WorkCaveat> caveats_of(const Points& points, const Line& line, const WorkRate& rate) {
  std::vector<WorkCaveat> caveats;
  constexpr double least_range = 2.0;
  if (points.work.maxCoeff() < least_range * points.work.minCoeff()) caveats.push_back(WorkCaveat::narrow_range);
  if (is_curved(points, line)) caveats.push_back(WorkCaveat::not_linear);
  if (rate.dependence.is_significant) caveats.push_back(WorkCaveat::correlated);
  if (rate.fixed.interval_seconds.high < 0.0) caveats.push_back(WorkCaveat::negative_fixed_cost);
  return caveats;
}

// The line through how far the runs' own intervals reach to one side.
Line line_of_reaches(const Points& points, std::span<const WorkedRun> runs, double UncertainTime::*error) {
  Eigen::ArrayXd reaches(points.work.size());
  for (Eigen::Index i = 0; i < reaches.size(); ++i) {
    reaches[i] = normal_quantile_of_interval() * runs[static_cast<std::size_t>(i)].undisturbed.*error;
  }
  return *fit_line(points.work, reaches, points.weights);
}

// `if_below`, `if_above`: how it changes if all runs are wrong by their whole reach to that side.
EstimatedCost cost_of(double seconds, double random_seconds, double if_below, double if_above) {
  EstimatedCost cost{.seconds = seconds,
                     .random_seconds = random_seconds,
                     .floor_below_seconds = std::max({0.0, if_below, -if_above}),
                     .floor_above_seconds = std::max({0.0, if_above, -if_below})};
  cost.interval_seconds = {seconds - std::hypot(random_seconds, cost.floor_below_seconds),
                           seconds + std::hypot(random_seconds, cost.floor_above_seconds)};
  return cost;
}

// Half of the interval with such a random part, in percent of the cost.
double half_width_percent_with(const EstimatedCost& cost, double random_seconds) {
  return 50.0 *
         (std::hypot(random_seconds, cost.floor_below_seconds) + std::hypot(random_seconds, cost.floor_above_seconds)) /
         cost.seconds;
}

double quantile_of_line(double confidence, std::size_t runs) {
  return student_quantile_of_interval(confidence, static_cast<double>(runs) - 2.0);
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
  const double quantile = quantile_of_line(confidence, runs.size());
  const Line below = line_of_reaches(points, runs, &UncertainTime::error_below);
  const Line above = line_of_reaches(points, runs, &UncertainTime::error_above);
  WorkRate rate{.runs = runs.size(), .confidence = confidence};
  rate.fixed = cost_of(line->intercept, quantile * line->intercept_error, below.intercept, above.intercept);
  rate.unit = cost_of(line->slope, quantile * line->slope_error, below.slope, above.slope);
  if (line->slope > 0.0) {
    const Interval& unit = rate.unit.interval_seconds;
    rate.units_per_second = 1.0 / line->slope;
    rate.rate_interval = Interval{1.0 / unit.high, unit.low > 0.0 ? 1.0 / unit.low : HUGE_VAL};
  }
  rate.residual_percent = 100.0 * line->residual_deviation() / points.seconds.mean();
  rate.dependence = dependence_of_residuals(points, *line);
  rate.caveats = caveats_of(points, *line, rate);
  return rate;
}

std::optional<double> WorkRate::half_width_percent() const { return half_width_percent_after(runs); }

std::optional<double> WorkRate::half_width_percent_after(std::size_t all_runs) const {
  constexpr std::size_t least_runs = 3;
  if (unit.interval_seconds.low <= 0.0 || all_runs < least_runs) return std::nullopt;
  const double narrower = quantile_of_line(confidence, all_runs) / quantile_of_line(confidence, runs) *
                          std::sqrt(static_cast<double>(runs) / static_cast<double>(all_runs));
  return half_width_percent_with(unit, unit.random_seconds * narrower);
}

std::optional<double> WorkRate::floor_percent() const {
  return unit.interval_seconds.low > 0.0 ? std::optional(half_width_percent_with(unit, 0.0)) : std::nullopt;
}

std::optional<std::size_t> WorkRate::runs_needed(double within_percent) const {
  const std::optional<double> floor = floor_percent();
  if (!floor || *floor >= within_percent) return std::nullopt;
  return least_runs_for([&](std::size_t all_runs) {
    const std::optional<double> width = half_width_percent_after(all_runs);
    return width && *width <= within_percent;
  });
}

KnownSoFar known_so_far(const WorkRate& rate, double within_percent) {
  return {rate.runs, rate.half_width_percent(), rate.floor_percent().value_or(0.0), rate.runs_needed(within_percent),
          [rate](std::size_t all_runs) { return rate.half_width_percent_after(all_runs); }};
}

}  // namespace halcyon
