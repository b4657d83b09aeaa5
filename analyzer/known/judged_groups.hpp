// The judged groups of a run as descriptions, and which of them earlier runs also had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/matching/group_description.hpp"
#include "analyzer/groups/grouping.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The judged groups of a run.
struct JudgedGroups {
  std::vector<std::uint32_t> groups;           // numbers in the grouping
  std::vector<GroupDescription> descriptions;  // of each

  double segments() const;
};
JudgedGroups judged_groups(const GroupedRun& run);

/// Groups that did the same kind and the same amount of work.
struct KnownPair {
  std::size_t judged = 0;  // place in JudgedGroups
  std::size_t known = 0;
};
std::vector<KnownPair> pairs_of(const JudgedGroups& judged, const std::vector<GroupDescription>& known,
                                bool by_cpu_time);

/// Whether two runs did the same amount of work, in any groups: the same volumes, and similar work. CPU time may grow
/// by up to a factor of two.
bool is_as_much_work(const std::vector<GroupDescription>& a, const std::vector<GroupDescription>& b, bool by_cpu_time);

/// The median of a group's durations, and its standard error, in s.
struct MedianDuration {
  double seconds = 0.0;
  double error = 0.0;
};
MedianDuration median_duration(const GroupedRun& run, std::uint32_t group);

}  // namespace halcyon
