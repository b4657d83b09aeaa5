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

/// On any host, by what the ranks were bound to.
bool has_more_ranks_than_cores(const Profile& profile);
/// How long the rank that waited longest was ready to run while others had the CPU, s; 0 where the kernel does not
/// tell.
double longest_wait_for_cpu(const Profile& profile);

/// Of a yellow or red run; else nothing. A cause is named only where it explains half of the excess, else the code is
/// `unclear`. `grouping` and `analysis` are the profile's; the attribution must be known.
std::optional<Cause> likely_cause(const Profile& profile, const Grouping& grouping, const Analysis& analysis);

/// When the excess came.
struct TimePattern {
  enum class Kind { throughout, periodic, bursts, stretch, start } kind = Kind::throughout;
  double period_seconds = 0.0;  // of `periodic`
  double from_seconds = 0.0;    // since the first segment; a `stretch` is at most 60 % of the run, a `start` a quarter
  double to_seconds = 0.0;
};

/// Periodic only where chance does not explain it: a line of the excess's spectrum far above its surroundings, of eight
/// periods or more in the run, or of three if multiples of its rate stand out, too; each of several segments. What the
/// program's own order of work would show, each group's mean excess, is left out.
TimePattern time_pattern(const Profile& profile, const Grouping& grouping, const Analysis& analysis);

}  // namespace halcyon
