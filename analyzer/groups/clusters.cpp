#include "analyzer/groups/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace halcyon {
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

}  // namespace halcyon
