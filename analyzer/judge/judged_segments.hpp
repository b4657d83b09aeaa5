// The result of the analysis for each segment, one after the other in the order of time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct JudgedSegment {
  std::uint64_t number = 0;
  double start_seconds = 0.0;  // since the recording began
  double duration_seconds = 0.0;
  std::uint32_t cluster = 0;
  std::uint32_t group = 0;
  const JudgedGroup* judged = nullptr;  // null: the group is too small to be judged
  double excess_seconds = 0.0;
  bool disturbed = false;  // longer than its group's threshold
};

/// Walks through the segments of a profile; `grouping` and `analysis` are the profile's.
class JudgedSegments {
 public:
  JudgedSegments(const Profile& profile, const Grouping& grouping, const Analysis& analysis);
  /// Nothing after the last one.
  std::optional<JudgedSegment> next();

 private:
  const Profile& profile_;
  const Grouping& grouping_;
  const Analysis& analysis_;
  std::vector<const JudgedGroup*> judged_;  // (groups)
  std::uint64_t at_ = 0;
  double end_ = 0.0;  // of the segment before, s
};

}  // namespace halcyon
