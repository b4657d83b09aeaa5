// Work per second, if the user can vary the work: time = fixed cost + work * cost of a unit (Pilot, "Workloads that
// cannot provide unit reading").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/repeat/dependence.hpp"
#include "analyzer/repeat/mean_time.hpp"
#include "analyzer/repeat/stopping.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// An inclusive range of amounts of work.
struct WorkRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};
/// The amount for run 0, 1, 2, ...: both ends first, since they determine a line best; then Pilot's midpoints of
/// midpoints, rounded. In a range of few amounts, some repeat before all have been used.
std::uint64_t work_of_run(std::size_t run, const WorkRange& range);

/// A run with its amount of work.
struct WorkedRun {
  double work = 0.0;  // units
  UncertainTime undisturbed;
};

/// `equal`: each time is known equally well, in seconds. `relative`: each is known equally well, in percent of itself.
enum class WorkWeights : std::uint8_t { equal, relative };

/// Why the times may not follow a line.
enum class WorkCaveat : std::uint8_t {
  narrow_range,         // the largest amount is less than twice the smallest
  not_linear,           // a parabola fits significantly better (F test, 1 %)
  correlated,           // the residuals are correlated along the runs
  negative_fixed_cost,  // the interval of the fixed cost is below 0
};
constexpr std::string_view name_of(WorkCaveat code) {
  switch (code) {
    case WorkCaveat::narrow_range: return "narrow-range";
    case WorkCaveat::not_linear: return "not-linear";
    case WorkCaveat::correlated: return "correlated";
    case WorkCaveat::negative_fixed_cost: return "negative-fixed-cost";
  }
  return "";
}

struct EstimatedCost {
  double seconds = 0.0;
  Interval interval_seconds;    // with the requested confidence
  double random_seconds = 0.0;  // half width of the part that more runs make narrower
  // The part that all runs share, and that more runs do not make narrower: its reach to either side.
  double floor_below_seconds = 0.0;
  double floor_above_seconds = 0.0;
};

struct WorkRate {
  std::size_t runs = 0;
  EstimatedCost fixed;
  EstimatedCost unit;
  std::optional<double> units_per_second;  // 1 / cost of a unit; none if that is not above 0
  std::optional<Interval> rate_interval;   // its upper end is infinite if the cost of a unit may be 0; none as above
  double residual_percent = 0.0;           // standard deviation of the residuals, in percent of the mean time
  Dependence dependence;                   // of the residuals along the runs; it is not in the intervals
  std::vector<WorkCaveat> caveats;
  double confidence = 0.0;

  // Of the cost of a unit, in percent of the cost. None if the cost may be 0.
  std::optional<double> half_width_percent() const;  // half of its interval
  /// Its expected value after `all_runs` runs, if they scatter about the line as much as these.
  std::optional<double> half_width_percent_after(std::size_t all_runs) const;
  std::optional<double> floor_percent() const;  // its lower limit
  /// Total number of runs until it is at most `within_percent`. None also if the floor is not below that.
  std::optional<std::size_t> runs_needed(double within_percent) const;
};

/// Least squares. The random part of both intervals is Student's, from the scatter about the line. In quadrature comes
/// the effect of an error that all runs share, and that need not scatter about the line. As in a comparison
/// (versus.hpp), it is the same share f of the reach of all runs' 90 % intervals: the true time of run i is
/// y_i + f u_i or y_i - f l_i, with f from 0 to 1 and the reaches u_i above and l_i below. The fit is linear in the
/// times. So, with the line p + q N that the same fit finds for the u_i, the true costs are larger by f p (fixed) and
/// f q (of a unit); with the line for the l_i, smaller. If reaches are a share of the times, this is the same share of
/// both costs. If they are the same for all amounts, it is all of it in the fixed cost.
///
/// None with fewer than three runs, or if all have the same amount.
std::optional<WorkRate> work_rate(std::span<const WorkedRun> runs, double confidence,
                                  WorkWeights weights = WorkWeights::relative);

/// For outlook_of(). Without a width if the cost of a unit may be 0.
KnownSoFar known_so_far(const WorkRate& rate, double within_percent);

}  // namespace halcyon
