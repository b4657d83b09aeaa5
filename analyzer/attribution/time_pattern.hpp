// When the excess of a run occurred: throughout, in bursts, in one stretch, or with a period.
#pragma once

#include <string>

#include "analyzer/attribution/lost_time.hpp"
#include "analyzer/groups/grouping.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct TimePattern {
  enum class Kind { throughout, periodic, bursts, stretch, start } kind = Kind::throughout;
  double period_seconds = 0.0;  // of `periodic`
  double from_seconds = 0.0;    // since the first segment began; a `stretch` is at most 60 % of the run, a `start` 25 %
  double to_seconds = 0.0;
};

/// Periodic only if chance does not explain it. A line of the excess's spectrum must be far above its surroundings. It
/// must have eight periods or more in the run, or three if multiples of its rate also stand out, and several segments
/// in each. The mean excess of each group is left out: it would show the program's own order of work.
TimePattern time_pattern(const Profile& profile, const Grouping& grouping, const LostTime& lost);

/// An adverbial phrase: "in bursts", "every 0.5 s".
std::string in_words(const TimePattern& pattern);

}  // namespace halcyon
