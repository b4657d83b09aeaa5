#include "analyzer/groups/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace halcyon {
namespace {

constexpr double least_peak_share = 0.1;  // of a cluster's segments, in each of two parts that are cut apart
constexpr double weak_link = 0.1;         // of the lower one of both peaks

// Segments within half the threshold of each value, above and below it. Of the values from `from` up to `to`.
std::vector<double> density_of(const std::vector<double>& ascending, const std::vector<std::uint64_t>& weights,
                               std::size_t from, std::size_t to) {
  std::vector<double> density(to - from, 0.0);
  std::uint64_t within = 0;
  for (std::size_t i = from, low = from, high = from; i < to; ++i) {
    while (high < to && ascending[high] - ascending[i] <= 0.5 * relative_distance_threshold * ascending[i]) {
      within += weights[high++];
    }
    while (ascending[i] - ascending[low] > 0.5 * relative_distance_threshold * ascending[low]) {
      within -= weights[low++];
    }
    density[i - from] = static_cast<double>(within);
  }
  return density;
}

}  // namespace

double relative_distance(double x, double y) {
  if (x == y) return 0.0;
  const double smaller = std::min(x, y);
  return smaller > 0.0 ? std::abs(x - y) / smaller : std::numeric_limits<double>::infinity();
}

std::vector<std::uint32_t> cluster_ascending(const std::vector<double>& ascending, double threshold) {
  std::vector<std::uint32_t> clusters(ascending.size(), 0);
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    const bool far = relative_distance(ascending[i - 1], ascending[i]) >= threshold;
    clusters[i] = clusters[i - 1] + (far ? 1 : 0);
  }
  return clusters;
}

std::vector<std::uint32_t> cut_weak_links(const std::vector<double>& ascending,
                                          const std::vector<std::uint64_t>& weights,
                                          const std::vector<std::uint32_t>& clusters) {
  std::vector<std::uint32_t> result(ascending.size(), 0);
  std::uint32_t count = 0;
  for (std::size_t from = 0, to = 0; from < ascending.size(); from = to) {
    while (to < ascending.size() && clusters[to] == clusters[from]) ++to;
    double all = 0.0;
    for (std::size_t i = from; i < to; ++i) all += static_cast<double>(weights[i]);
    const std::vector<double> density = density_of(ascending, weights, from, to);
    // Cuts at the lowest place between two peaks that both hold much of the cluster.
    std::size_t peak = 0;
    std::size_t valley = 0;
    result[from] = count;
    for (std::size_t i = 1; i < density.size(); ++i) {
      result[from + i] = count;
      if (density[i] < density[valley]) valley = i;
      const bool is_other_peak = density[i] >= least_peak_share * all && density[peak] >= least_peak_share * all &&
                                 density[valley] <= weak_link * std::min(density[i], density[peak]);
      if (is_other_peak) {
        ++count;
        for (std::size_t j = valley; j <= i; ++j) result[from + j] = count;
        peak = valley = i;
      } else if (density[i] >= density[peak]) {
        peak = valley = i;
      }
    }
    ++count;
  }
  return result;
}

}  // namespace halcyon
