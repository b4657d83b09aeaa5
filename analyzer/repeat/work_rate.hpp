// Work per second, if the user can vary the work: time = fixed cost + work * cost of a unit (Pilot, "Workloads that
// cannot provide unit reading").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// An inclusive range of amounts of work.
struct WorkRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};
/// The amount for run 0, 1, 2, ...: both ends first, since they determine a line best; then Pilot's midpoints of
/// midpoints. Amounts repeat after every amount of the range has been used.
std::uint64_t work_of_run(std::size_t run, const WorkRange& range);

/// A run with its amount of work.
struct WorkedRun {
  double work = 0.0;     // units
  double seconds = 0.0;  // undisturbed
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
  Interval interval_seconds;  // with the requested confidence
};

struct WorkRate {
  std::size_t runs = 0;
  EstimatedCost fixed;
  EstimatedCost unit;
  double units_per_second = 0.0;          // 1 / cost of a unit
  std::optional<Interval> rate_interval;  // none if the cost of a unit may be 0
  double residual_percent = 0.0;          // standard deviation of the residuals, in percent of the mean time
  std::vector<WorkCaveat> caveats;
};

/// Half of the interval of the cost of a unit, in percent of the cost. None if the cost may be 0.
std::optional<double> half_width_percent(const WorkRate& rate);

/// None with fewer than three runs, or if all have the same amount.
std::optional<WorkRate> work_rate(std::span<const WorkedRun> runs, double confidence,
                                  WorkWeights weights = WorkWeights::relative);

}  // namespace halcyon
