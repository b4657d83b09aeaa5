// What most probably disturbed a run, and what its user can do about it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "libprofile/format/profile.hpp"

namespace halcyon {

struct Analysis;
struct Grouping;

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

/// Nothing for a run that is neither yellow nor red. A cause is named only if it explains half of the excess, else the
/// code is `unclear`. `grouping` and `analysis` are the profile's. The breakdown must be known.
std::optional<Cause> likely_cause(const Profile& profile, const Grouping& grouping, const Analysis& analysis);

}  // namespace halcyon
