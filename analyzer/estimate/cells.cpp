#include "analyzer/estimate/cells.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr double counted_share = 0.97;  // of the segments; longer ones count as "longer"
constexpr double middle_step = 0.023;   // of the group in a cell
constexpr double first_share = 0.0025;  // in the first cell, growing to a middle one's share
constexpr double tail_growth = 1.45;
constexpr double resolution = 2e-4;  // of the duration: clocks, and the cost of recording, are not finer
constexpr double core_share = 0.2;   // the densest part of the group, in which jitter rules
constexpr double longest_in_cores = 100.0;
constexpr double full_weight_segments = 700.0;  // beyond, further segments add less and less
constexpr double usual_jitter = 0.045;          // of the duration
constexpr double most_jitter = 0.22;

}  // namespace

Cells cells_of(const Durations& durations) {
  std::vector<double> sorted(durations.data(), durations.data() + durations.size());
  sort_ascending(sorted);
  const std::size_t size = sorted.size();
  Cells cells;
  cells.segments = static_cast<double>(size);
  cells.mean = durations.mean();
  cells.low = sorted[size / 10];
  cells.middle = sorted[size / 2];
  cells.finest = resolution * cells.middle;

  const std::size_t held = std::max<std::size_t>(2, static_cast<std::size_t>(core_share * cells.segments));
  const double shortest = sorted[0];
  double core = sorted[size - 1] - shortest;
  double core_begin = shortest;
  for (std::size_t i = 0; i + held < size; ++i) {
    if (sorted[i + held] - sorted[i] < core) {
      core = sorted[i + held] - sorted[i];
      core_begin = sorted[i];
    }
  }
  const double longest = core_begin + longest_in_cores * std::max(core, 2.0 * cells.finest);

  std::vector<double> shares;
  for (double share = first_share; share < 2.0 * middle_step; share *= tail_growth) shares.push_back(share);
  for (double share = 2.0 * middle_step; share <= counted_share; share += middle_step) shares.push_back(share);
  double last = 0.0;
  for (const double share : shares) {
    const auto index = static_cast<std::size_t>(std::lround(share * cells.segments));
    if (index < 1 || index >= size) continue;
    const double edge = std::min(0.5 * (sorted[index - 1] + sorted[index]), longest);
    last = edge;
    if (cells.edges.empty() || edge - cells.edges.back() >= cells.finest) cells.edges.push_back(edge);
    if (edge == longest) break;
  }
  // Where all durations are as good as equal, that nothing much is longer is what is known.
  if (!cells.edges.empty()) cells.edges.back() = std::max(cells.edges.back(), last);
  if (cells.edges.empty()) cells.edges.push_back(sorted[size - 1]);
  // That nothing is shorter than the first ones is known too.
  const double first_width = std::max(cells.edges.front() - shortest, 2.0 * cells.finest);
  cells.edges.insert(cells.edges.begin(), shortest - first_width);

  auto from = sorted.begin();
  for (const double edge : cells.edges) {
    const auto to = std::partition_point(from, sorted.end(), [edge](double duration) { return duration <= edge; });
    cells.counts.push_back(static_cast<double>(to - from));
    from = to;
  }
  cells.counts.push_back(static_cast<double>(sorted.end() - from));
  return cells;
}

JitterPrior::Point JitterPrior::at(double jitter) const {
  const double beyond_usual = std::pow(jitter / usual_jitter, 4.0);
  const double beyond_most = std::pow(jitter / most_jitter, 4.0);
  // The logarithms, as either density may be too small for a number.
  const double usual_density = -0.5 * beyond_usual;
  const double wide_density = wide > 0.0 ? std::log(wide) - 0.5 * beyond_most : -1e300;
  const double larger = std::max(usual_density, wide_density);
  const double density = larger + std::log(std::exp(usual_density - larger) + std::exp(wide_density - larger));
  const double share = std::exp(wide_density - density);
  const double steepness = (1.0 - share) * beyond_usual + share * beyond_most;
  return {density, -2.0 * steepness, 8.0 * steepness};
}

double temper_of(const Cells& cells) { return full_weight_segments / (full_weight_segments + cells.segments); }

}  // namespace halcyon
