#include "analyzer/estimate/cells.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/durations.hpp"

namespace halcyon {
namespace {

// Numerics: the edges of cells.
constexpr double middle_step = 0.023;   // share of the group in a cell
constexpr double first_share = 0.0025;  // share in the first cell; the next ones grow up to `middle_step`
constexpr double tail_growth = 1.45;
constexpr double core_share = 0.2;          // the densest part of the group, whose width comes from jitter
constexpr double longest_in_cores = 600.0;  // a table of the law of durations reaches a little farther

constexpr double resolution = 2e-4;             // of the duration: clocks, and the cost of recording, are not finer
constexpr double full_weight_segments = 700.0;  // each segment beyond adds less

// The last edge may not lie beyond. The width of the densest part is the unit.
double longest_edge(std::span<const double> sorted, const Cells& cells) {
  const std::size_t size = sorted.size();
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
  return core_begin + longest_in_cores * std::max(core, 2.0 * cells.finest);
}

// At given shares of the group, but no closer than what can be measured.
std::vector<double> edges_of(std::span<const double> sorted, const Cells& cells) {
  const std::size_t size = sorted.size();
  const double shortest = sorted[0];
  const double longest = longest_edge(sorted, cells);
  std::vector<double> shares;
  for (double share = first_share; share < 2.0 * middle_step; share *= tail_growth) shares.push_back(share);
  for (double share = 2.0 * middle_step; share <= counted_share; share += middle_step) shares.push_back(share);
  std::vector<double> edges;
  double last = 0.0;
  for (const double share : shares) {
    const auto index = static_cast<std::size_t>(std::lround(share * cells.segments));
    if (index < 1 || index >= size) continue;
    const double edge = std::min(0.5 * (sorted[index - 1] + sorted[index]), longest);
    last = edge;
    if (edges.empty() || edge - edges.back() >= cells.finest) edges.push_back(edge);
    if (edge == longest) break;
  }
  // Where durations are nearly equal, close edges were left out. The last one says that hardly anything is longer.
  if (!edges.empty()) edges.back() = std::max(edges.back(), last);
  if (edges.empty()) edges.push_back(sorted[size - 1]);
  // The first cell is empty: it says that no duration is shorter than the shortest.
  const double first_width = std::max(edges.front() - shortest, 2.0 * cells.finest);
  edges.insert(edges.begin(), shortest - first_width);
  return edges;
}

}  // namespace

Cells cells_of(std::span<const double> sorted) {
  const std::size_t size = sorted.size();
  Cells cells;
  cells.segments = static_cast<double>(size);
  cells.mean = Eigen::Map<const Durations>(sorted.data(), static_cast<Eigen::Index>(size)).mean();
  cells.low = sorted[size / 10];
  cells.middle = sorted[size / 2];
  cells.finest = resolution * cells.middle;
  cells.edges = edges_of(sorted, cells);
  auto from = sorted.begin();
  for (const double edge : cells.edges) {
    const auto to = std::partition_point(from, sorted.end(), [edge](double duration) { return duration <= edge; });
    cells.counts.push_back(static_cast<double>(to - from));
    from = to;
  }
  cells.counts.push_back(static_cast<double>(sorted.end() - from));
  return cells;
}

double temper_of(const Cells& cells) { return full_weight_segments / (full_weight_segments + cells.segments); }

}  // namespace halcyon
