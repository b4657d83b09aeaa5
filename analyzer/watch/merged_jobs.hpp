// One job, from the files that readers on its hosts have published.
#pragma once

#include <string>
#include <vector>

#include "libprofile/live/publication.hpp"

namespace halcyon {

/// The contents of a host's file when it was last read.
struct HostReading {
  live::PublishedJob published;
  double seconds_ago = 0.0;  // how long ago it was replaced
};

struct MergedJobs {
  std::vector<live::JobNow> jobs;       // in the order of their records; `file` is the name of the record
  std::vector<std::string> complaints;  // files that are left out, and why
};

/// A host's ranks are left out if its file was not replaced for ten seconds, unless they have ended. A file that
/// contradicts others is left out: the newer one counts.
MergedJobs merged(std::vector<HostReading> readings);

}  // namespace halcyon
