// The phases of a run: start-up, the stable part with changes of its level, and the end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/phases/repeated_work.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// How changes of level are found: by ranks, the default, or by one of Pilot's two kinds of EDM.
enum class ChangeMethod : std::uint8_t { ranks, edm, edm_multi };
inline constexpr std::array<std::string_view, 3> change_method_names{"ranks", "edm", "edm-multi"};

/// All times are in s since the first segment began.
struct LevelChange {
  double from_seconds = 0.0;
  double to_seconds = 0.0;
  // How many times as long as at the usual level its segments took together, without rare long delays, and how much
  // longer in s; below 1 and negative if they were faster. Of the groups that both levels have.
  double factor = 1.0;
  double added_seconds = 0.0;
  // Those that held the others up for most of the added time. Both are empty if too many did, or if the level is lower.
  std::vector<std::uint32_t> ranks;  // ascending
  std::vector<std::string> hosts;
};

struct Phases {
  ChangeMethod method = ChangeMethod::ranks;
  /// Whether one level holds for more than half of the compared segments. If so, it is the usual level, otherwise the
  /// lowest level that lasts for a tenth of them is.
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

/// Nothing if there is no repeated part (repeated_work.hpp).
std::optional<Phases> find_phases(const Profile& profile, const Grouping& grouping, const GroupBaselines& baselines,
                                  const LeastChange& least, ChangeMethod method);

}  // namespace halcyon
