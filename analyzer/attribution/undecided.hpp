// Lost time that may be the program's own doing.
#pragma once

#include "analyzer/attribution/breakdown.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct Undecided {
  double slept_seconds = 0.0;     // waits of the ranks that held the others up, in computation and not for a CPU
  double spun_seconds = 0.0;      // most_work_beyond_least()
  double crowded_seconds = 0.0;   // waited_for_own_threads()
  double children_seconds = 0.0;  // waited_for_children()
  double slower_seconds = 0.0;    // computation was slower for a while, by CPU time
  double device_seconds = 0.0;    // in calls of devices
  double waited_seconds = 0.0;    // in calls of MPI, perhaps for a rank of which nothing is known

  double seconds() const {
    return slept_seconds + spun_seconds + crowded_seconds + children_seconds + slower_seconds + device_seconds +
           waited_seconds;
  }
};

/// `breakdown`: of the run's excess. `speed_seconds`: part of it that was lost to a slower machine.
Undecided undecided_of(const Profile& profile, const Breakdown& breakdown, double speed_seconds);

}  // namespace halcyon
