// Which segments did the same work: clusters by the compute feature, split into groups by signature.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/groups/speeds.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The paper, section 2, "Clustering with Relative Distance": the threshold of its study.
inline constexpr double relative_distance_threshold = 0.1;
/// Groups below this size are not judged (the paper, section 2).
inline constexpr std::size_t smallest_judged_group = 5;
/// In percent of the run time. Where less of it lies in groups that are judged, nothing is said of the run.
inline constexpr double least_coverage_percent = 50.0;

/// Numbers from 0 to `count` - 1 given to segments; equal numbers belong together.
struct Partition {
  std::vector<std::uint32_t> of;  // (segments)
  std::uint32_t count = 0;
};

/// |x - y| in units of the smaller (the paper, section 2); from zero every other value is infinitely far. Not negative.
double relative_distance(double x, double y);

/// Cuts ascending values where (x[i+1] - x[i]) / x[i] >= threshold. Returns the cluster of each value, counted from 0.
std::vector<std::uint32_t> cluster_ascending(const std::vector<double>& ascending, double threshold);

/// Splits clusters of ascending values whose parts hang together by a few values only: CPU time varies with what others
/// do to caches and clock rates, and one segment in a hundred between two kinds of work would make them one. A cluster
/// is cut at its lowest density (segments within half the threshold) between two peaks, where that is a tenth of the
/// lower one at most and each peak holds a tenth of the cluster. `weights`: segments with each value. Returns the
/// cluster of each value, counted from 0.
std::vector<std::uint32_t> cut_weak_links(const std::vector<double>& ascending,
                                          const std::vector<std::uint64_t>& weights,
                                          const std::vector<std::uint32_t>& clusters);

/// Clusters and groups of a profile's segments. Counts and the boundary's call site compare exactly, volumes by
/// relative distance within what agrees in all counts.
struct Grouping {
  std::uint32_t clusters = 0;
  Partition groups;
  std::vector<std::uint32_t> cluster_of;  // (groups) the cluster that each is part of
  std::vector<std::uint32_t> by_group;    // (segments) those of group 0, of group 1 and so on, each in order of time
  std::vector<std::size_t> begin{0};      // (groups + 1) where in by_group the segments of each begin
  std::optional<Speeds> speeds;           // of the machine, where it switched between two
  // s that a slower machine may have cost, or other work: CPU time follows either, and it changed once.
  double perhaps_slow_seconds = 0.0;
  FeatureColumn work;  // the compute feature at the machine's full speed, where CPU time followed the speed; else empty

  std::span<const std::uint32_t> members(std::uint32_t group) const {
    return std::span(by_group).subspan(begin[group], begin[group + 1] - begin[group]);
  }
};

/// CPU time follows the speed of the machine: where that switched between two, the work is what it was at full speed.
Grouping group_segments(const Profile& profile);

/// (members) s, in their order.
std::vector<float> durations_of(const Profile& profile, std::span<const std::uint32_t> members);

/// What segments did, as they were grouped.
const FeatureColumn& work_of(const Profile& profile, const Grouping& grouping);

}  // namespace halcyon
