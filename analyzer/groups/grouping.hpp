// Which segments did the same work: clusters by the compute feature, split into groups by signature.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/groups/partition.hpp"
#include "analyzer/groups/speeds.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// In percent of the run time. If less of it is in judged groups, the run has no verdict.
inline constexpr double least_coverage_percent = 50.0;

/// What holds for so much of something holds for it as a whole; the rest is rare.
inline constexpr double nearly_whole = 0.9;

/// Clusters and groups of a profile's segments. Counts and the boundary's call site are compared exactly. Segments that
/// agree in these are split by the relative distance of their volumes.
struct Grouping {
  std::uint32_t clusters = 0;
  Partition groups;
  std::vector<std::uint32_t> cluster_of;  // (groups) the cluster that each is part of
  std::vector<std::uint32_t> by_group;    // (segments) those of group 0, of group 1 and so on, each in order of time
  std::vector<std::size_t> begin{0};      // (groups + 1) where in by_group the segments of each begin
  std::optional<Speeds> speeds;           // of the machine, if it had more than one
  bool speeds_may_be_work = false;        // more of it, rather than a slower machine: CPU time follows both
  // The work of segments, if it is not the compute feature: that of the rank with the most of it, with the usual time
  // of devices (work_model.hpp), or at the machine's full speed, if CPU time followed the speed. Else empty.
  FeatureColumn work;
  bool work_has_devices = false;  // their usual time is in it

  std::span<const std::uint32_t> members(std::uint32_t group) const {
    return std::span(by_group).subspan(begin[group], begin[group + 1] - begin[group]);
  }
  /// (groups)
  std::vector<std::span<const std::uint32_t>> all_members() const;
};

/// CPU time follows the speed of the machine. If the speed switched between two levels, the work is converted to full
/// speed.
Grouping group_segments(const Profile& profile);

/// By counts, volumes and site alone.
Grouping group_by_signature(const Profile& profile);

/// A run and its groups.
struct GroupedRun {
  const Profile& profile;
  const Grouping& grouping;

  /// s of all segments of a group.
  double seconds_of(std::uint32_t group) const;
};

/// (members) s, in their order.
std::vector<float> durations_of(const Profile& profile, std::span<const std::uint32_t> members);

/// (members) s, sorted.
std::vector<float> ascending_durations(const Profile& profile, std::span<const std::uint32_t> members);

/// The place that ended a segment, as an index of Profile::sites; 0 if there is only one.
inline std::uint16_t site_of(const Profile& profile, std::size_t segment) {
  return profile.site.empty() ? std::uint16_t{0} : profile.site[segment];
}

/// The work of segments, as used for grouping.
const FeatureColumn& work_of(const Profile& profile, const Grouping& grouping);

}  // namespace halcyon
