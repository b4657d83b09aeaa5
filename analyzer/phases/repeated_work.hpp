// Where a program's repeated work begins and ends, and how its level changes. The segments compared along the run are
// reduced to a small number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/phases/stretches.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

inline constexpr std::size_t fewest_for_median = 5;

/// The duration of the segments of each group: (groups) s, 0 if a group is not judged.
using GroupBaselines = std::vector<double>;

/// The segments of the repeated work, without start-up and end: those in a row for which nine times the baselines of
/// judged segments, minus their time beyond the baselines and the time in other segments, is largest. A judged segment
/// counts for no less than 0. So start-up and end may contain a few short segments of the repeated work. Nothing if no
/// group is judged, or if less than half of the judged time is there.
std::optional<Stretch> repeated_part(const Profile& profile, const Grouping& grouping, const GroupBaselines& baselines);

/// How much of the segment before the part is its first repetitions, in s. If that segment ends where repeated segments
/// end, and has the calls and the work of one or of a multiple, it holds so many of them: this multiple of the
/// baseline, as the median over the first repeated segments that end there.
double first_repetitions_before(const Profile& profile, const Grouping& grouping, const GroupBaselines& baselines,
                                Stretch part);

/// Levels of a stretch by group: medians of durations in units of their baselines.
struct GroupLevel {
  std::uint32_t group = 0;
  double level = 0.0;
  double baseline_seconds = 0.0;  // what the segments of this level would take at their baselines
  bool is_own = false;            // there are enough segments for a median; otherwise it is the level of all groups
};

/// The compared segments in the order of time. They are those of the groups that take nine tenths of the repeated time:
/// many short segments would hide what happens to the others.
class ComparedSegments {
 public:
  ComparedSegments(const Profile& profile, const Grouping& grouping, const GroupBaselines& baselines, Stretch part);

  std::size_t size() const { return segments_.size(); }
  std::uint32_t segment(std::size_t at) const { return segments_[at]; }
  std::uint32_t group(std::size_t at) const { return grouping_.groups.of[segments_[at]]; }
  /// How many segments of the run each compared one stands for.
  double segments_for_each() const { return static_cast<double>(segments_for_each_); }
  double seconds(std::size_t at) const { return static_cast<double>(profile_.duration[segments_[at]]); }
  /// The duration, in units of the baseline.
  double relative(std::size_t at) const;
  /// What it would take undisturbed: the group's baseline, for the work that a hardware counter counted. CPU time is
  /// longer itself where everything is slower.
  double baseline(std::size_t at) const {
    return baselines_[group(at)] * (work_factors_.empty() ? 1.0 : static_cast<double>(work_factors_[at]));
  }
  /// The median of relative durations in the stretch. Stretches are indices of compared segments.
  double level(Stretch stretch) const;
  /// Ascending by group.
  std::vector<GroupLevel> group_levels(Stretch stretch) const;
  /// Some of the stretch, evenly spread; all if they are no more than `most`. Indices of compared segments.
  static std::vector<std::size_t> sample(Stretch stretch, std::size_t most);

 private:
  void count_work();

  const Profile& profile_;
  const Grouping& grouping_;
  GroupBaselines baselines_;  // 0 if a group is not compared
  std::size_t segments_for_each_ = 1;
  std::vector<std::uint32_t> segments_;
  std::vector<float> work_factors_;  // empty if work was not counted
};

}  // namespace halcyon
