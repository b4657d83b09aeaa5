// A description of a group that does not depend on its profile: groups of different runs can be compared, and kept
// without the profile.
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

/// Properties that all segments of a group share, and that are compared exactly. It holds values: bins differ between
/// profiles.
struct Signature {
  std::string site;
  std::array<double, feature_count> counts{};  // zero for features that are no counts
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

/// Segments of either run that can be paired, one to one, with a segment of the same signature in the other.
std::size_t shared_segments(std::span<const GroupDescription> a, std::span<const GroupDescription> b);

}  // namespace halcyon
