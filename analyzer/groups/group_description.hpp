// What describes a group whatever its profile, so that groups of different runs can be compared, and kept of a run
// without its profile.
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

/// The values of a feature in a group, in three numbers.
struct FeatureRange {
  double least = 0.0;
  double median = 0.0;
  double greatest = 0.0;
};
FeatureRange range_of(const FeatureColumn& column, std::span<const std::uint32_t> members);

/// What is the same for all segments of a group, and compared exactly. It holds values: bins differ between profiles.
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

}  // namespace halcyon
