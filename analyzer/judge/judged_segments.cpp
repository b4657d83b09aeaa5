#include "analyzer/judge/judged_segments.hpp"

#include "analyzer/groups/timeline.hpp"

namespace halcyon {

JudgedSegments::JudgedSegments(const Profile& profile, const Grouping& grouping, const Analysis& analysis)
    : profile_(profile), grouping_(grouping), analysis_(analysis), judged_(grouping.groups.count, nullptr) {
  for (const JudgedGroup& group : analysis.judged) judged_[group.group] = &group;
}

std::optional<JudgedSegment> JudgedSegments::next() {
  if (at_ == profile_.segments) return std::nullopt;
  JudgedSegment segment{.number = at_,
                        .start_seconds = end_ + times_of(profile_).gap(at_),
                        .duration_seconds = static_cast<double>(profile_.duration[at_]),
                        .group = grouping_.groups.of[at_],
                        .excess_seconds = analysis_.excess[at_]};
  segment.cluster = grouping_.cluster_of[segment.group];
  segment.judged = judged_[segment.group];
  segment.disturbed = segment.judged != nullptr && segment.duration_seconds > segment.judged->threshold_seconds;
  end_ = segment.start_seconds + segment.duration_seconds;
  ++at_;
  return segment;
}

}  // namespace halcyon
