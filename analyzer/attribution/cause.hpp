// What most probably disturbed a run, and what its user can do about it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/attribution/lost_time.hpp"
#include "analyzer/groups/grouping.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct Cause {
  std::string_view code;    // one of cause_infos()
  std::string text;         // what, where and when: a clause
  std::string_view action;  // sentences
};

/// Each is explained in docs/troubleshooting.md under its code.
struct CauseInfo {
  std::string_view code;
  std::string_view action;
};
std::span<const CauseInfo> cause_infos();

/// Nothing if no time was lost. A cause is named only if it explains half of the excess, else the code is `unclear`.
/// `grouping` and `lost` are the profile's.
std::optional<Cause> likely_cause(const Profile& profile, const Grouping& grouping, const LostTime& lost);

}  // namespace halcyon
