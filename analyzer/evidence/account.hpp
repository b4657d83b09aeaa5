// What the kernel's account says of segments that no others are like.
#pragma once

#include <vector>

#include "analyzer/groups/families.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Share of what was computed that a machine slower all along may have cost, without being seen to be slow: neighbours
/// on one that is not full make computation slower by less than this, 19 times in 20.
inline constexpr double perhaps_slower = 0.05;

/// Where nothing repeats, durations tell nothing. But what ranks have computed on a CPU was needed, and what they
/// waited for a CPU that others had was lost.
struct Account {
  std::vector<float> lost;         // (segments) s that each has lost for sure; 0 for those that are judged by others
  double lost_seconds = 0.0;       // its sum
  double most_lost_seconds = 0.0;  // more cannot be lost, if the machine was not slower than usual
  double needed_seconds = 0.0;     // computation
  /// The time that is known to be either needed or lost.
  double explained_seconds() const { return needed_seconds + lost_seconds; }
  /// Also to a machine that was slower all along.
  double perhaps_lost_seconds() const { return most_lost_seconds + perhaps_slower * needed_seconds; }
};

/// Of the segments that are in no family.
Account account_of(const Profile& profile, const Families& families);

}  // namespace halcyon
