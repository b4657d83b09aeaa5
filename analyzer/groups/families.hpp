// Groups that are judged together: what their segments should take is known beside that of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "analyzer/groups/grouping.hpp"

namespace halcyon {

/// A group that is large enough to be judged, and smaller ones that are near to it; or small ones that are near to each
/// other, and large enough together.
struct Family {
  std::vector<std::uint32_t> groups;       // ascending
  std::vector<float> relative;             // (groups) what a segment should take, relative to the mean of the family
  std::span<const std::uint32_t> members;  // segments, in the order of time
  std::vector<float> expected;             // (members) what each should take, with the mean 1; empty for one group
};

/// The families of a run. Small groups that are near to no other are in none.
class Families {
 public:
  Families() = default;
  /// The groups that are large enough, each by itself (the paper, section 2).
  explicit Families(const Grouping& grouping);
  /// Small groups join others of the same place by the expected time of their segments.
  Families(const Profile& profile, const Grouping& grouping);

  const std::vector<Family>& all() const { return families_; }
  /// Whether any has several groups.
  bool are_joined() const { return !joined_members_.empty(); }
  /// Of all members.
  std::size_t segments() const;
  /// (segments) whether each is in a family.
  std::vector<bool> contained(std::size_t segments) const;

 private:
  std::vector<Family> families_;
  std::list<std::vector<std::uint32_t>> joined_members_;  // of families with several groups: they stay where they are
};

}  // namespace halcyon
