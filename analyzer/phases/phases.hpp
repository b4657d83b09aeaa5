// The phases of a run: start-up, the stable part with changes of its level, and the end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// What an analysis says of the time of each segment: the changes of level come from what the verdict's number does.
struct UsualTimes {
  std::span<const float>
      usual;                    // (segments) s, less what was lost and what is slow; 0: the analysis says nothing of it
  std::span<const float> slow;  // (segments) s, of a slower machine or of more work; empty if there are none
};

/// All times are in s since the first segment began.
struct LevelChange {
  double from_seconds = 0.0;
  double to_seconds = 0.0;
  // How many times as long as at the usual level its segments took together, without rare long delays, and how much
  // longer in s; below 1 and negative if they were faster.
  double factor = 1.0;
  double added_seconds = 0.0;
  bool may_be_work = false;  // half of that or more may be the program's own
  // Those that held the others up for most of the added time. Both are empty if too many did, or if the level is lower.
  std::vector<std::uint32_t> ranks;  // ascending
  std::vector<std::string> hosts;
};

struct Phases {
  /// Whether one level holds for more than half of the work. If so, it is the usual level, otherwise the lowest level
  /// that lasts for a tenth of it is.
  bool dominant = true;
  double stable_from_seconds = 0.0;  // what comes before is start-up; little of it is judged
  double stable_to_seconds = 0.0;    // what comes after is the end; little of it is judged, too
  double end_seconds = 0.0;          // the end of the run
  std::vector<LevelChange> changes;  // in the order of time
};

/// Which changes are reported. A level must differ from the usual one by `factor` or more, and must have added or saved
/// `share` of the run's time or more.
struct LeastChange {
  double factor = 1.0;
  double share = 0.0;
};

/// Nothing if no part of the run is repeated work, or if less than half of what is known lies in it.
std::optional<Phases> find_phases(const Profile& profile, const UsualTimes& times, const LeastChange& least);

}  // namespace halcyon
