// Which groups of two runs did the same work, told by what describes a group: so that one of the runs may be known by
// its descriptions alone.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A solver that takes a step more or less still does the same work; a run of other input does not.
inline constexpr double least_shared_percent = 90.0;

/// Relative distance: a core that shares its pipelines, caches or memory with another's work does not get slower than
/// this by it.
inline constexpr double most_growth_of_cpu_time = 1.0;

/// The values of a feature in a group: its chain of bins, in three numbers.
struct FeatureRange {
  double least = 0.0;
  double median = 0.0;
  double greatest = 0.0;
};
FeatureRange range_of(const FeatureColumn& column, std::span<const std::uint32_t> members);

/// What is the same for all segments of a group: compared exactly. Values, not bins, which differ between profiles.
struct Signature {
  std::string site;
  std::array<double, feature_count> counts{};  // zero for what is no count
  auto operator<=>(const Signature&) const = default;
};
Signature signature_of(const Profile& profile, std::uint32_t segment);

struct GroupDescription {
  Signature signature;
  std::size_t segments = 0;
  std::array<FeatureRange, feature_count> ranges{};  // of work and volumes
};
GroupDescription describe_group(const Profile& profile, std::span<const std::uint32_t> members);
/// (groups)
std::vector<GroupDescription> describe_groups(const Profile& profile, const Grouping& grouping);

/// Segments of either run that have one of the same signature in the other, one for one.
std::size_t shared_segments(std::span<const GroupDescription> a, std::span<const GroupDescription> b);

/// Numbers of two groups, one of each run, that did the same work.
struct GroupPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

/// Pairs of groups that agree in all counts and in the text of their call site, and whose volumes and compute feature
/// are alike by relative distance. CPU time, which itself grows where a machine is disturbed, may differ up to twofold;
/// where all of it differs by a common factor, distances are those from that factor.
/// Where several would do, pairs of the most segments and the nearest medians come first. Each group is in at most one
/// pair; ascending in `a`.
std::vector<GroupPair> match_groups(std::span<const GroupDescription> a, std::span<const GroupDescription> b,
                                    bool by_cpu_time);

/// (members) s
std::vector<float> ascending_durations(const Profile& profile, std::span<const std::uint32_t> members);

}  // namespace halcyon
