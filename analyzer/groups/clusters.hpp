// Clusters of values that are alike by relative distance.
#pragma once

#include <cstdint>
#include <vector>

namespace halcyon {

/// The paper, section 2, "Clustering with Relative Distance": the threshold of its study.
inline constexpr double relative_distance_threshold = 0.1;

/// |x - y| in units of the smaller (the paper, section 2). Every other value is infinitely far from zero. Not negative.
double relative_distance(double x, double y);

/// Cuts ascending values where (x[i+1] - x[i]) / x[i] >= threshold. Returns the cluster of each value, counted from 0.
std::vector<std::uint32_t> cluster_ascending(const std::vector<double>& ascending, double threshold);

}  // namespace halcyon
