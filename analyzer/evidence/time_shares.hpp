// What the ranks did with their time.
#pragma once

#include <optional>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// What all ranks together did with their time, as shares that add up to 1.
struct TimeShares {
  double computing = 0.0;  // or ready for a CPU
  double in_mpi = 0.0;
  double in_files = 0.0;
  double on_devices = 0.0;      // in calls of their libraries: mostly waiting for them
  double asleep = 0.0;          // outside of all these
  double file_seconds = 0.0;    // of all ranks: in_files of their time
  double asleep_seconds = 0.0;  // the same of `asleep`
};
/// Nothing in older profiles.
std::optional<TimeShares> time_shares(const Profile& profile);

}  // namespace halcyon
